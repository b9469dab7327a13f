/** Audit records, and the hub about itself (design 8). */
import { type Static, Type } from 'typebox';
import { count } from './heartbeat.ts';
import { digest, digits, fingerprint, hostId, networkAddress, publicKey, sentence, time, word } from './text-kinds.ts';

export const auditRecord = Type.Object({
  seq: count(1),
  at: time(),
  actor: Type.Object({ id: sentence(200), kind: word(), rung: word(), verified: Type.Boolean() }),
  action: word(),
  target: sentence(200),
  outcome: word(),
  details: Type.Record(word(), Type.Unknown()),
});
export type AuditRecord = Static<typeof auditRecord>;

export const auditQuery = Type.Object({
  /** Sequence number; only later records are answered. */
  after: Type.Optional(digits()),
  limit: Type.Optional(digits()),
  actor: Type.Optional(sentence(200)),
  /** `pin.taken`, or `pin` for every action on pins. */
  action: Type.Optional(word()),
  /** Of a secret, or `rung:` and a rung, also the records of its rotations. */
  target: Type.Optional(sentence(200)),
  since: Type.Optional(time()),
  outcome: Type.Optional(Type.Union([Type.Literal('done'), Type.Literal('refused')])),
});
export type AuditQuery = Static<typeof auditQuery>;

export const listAuditAnswer = Type.Object({ records: Type.Array(auditRecord) });

/** The hub-root file for hosts of an older fleet (design 11). */
export const hubRootFile = Type.Object({
  v: Type.Literal(1),
  trustDomain: networkAddress(),
  root: publicKey(),
  spki: Type.Array(digest()),
  hubs: Type.Array(networkAddress()),
});

export type HubRootFileJson = Static<typeof hubRootFile>;

/** `generation`: the version whose window this closed; `hosts`: whose tokens, first use or former life it closed. */
export const acceptTimeAnswer = Type.Object({
  before: time(),
  after: time(),
  generation: Type.Union([count(1), Type.Null()]),
  hosts: Type.Array(hostId()),
});
export type AcceptTimeAnswer = Static<typeof acceptTimeAnswer>;

export const hubStatusAnswer = Type.Object({
  version: word(),
  startedAt: time(),
  time: time(),
  hubRoot: hubRootFile,
  hubKey: Type.Object({ kid: fingerprint(), serial: count(1) }),
  fleetAddress: networkAddress(),
  metricsAddress: networkAddress(),
  /** Where operators with tokens are listened for; absent where there is the socket alone. */
  operatorsAddress: Type.Optional(networkAddress()),
  checks: Type.Array(Type.Object({ name: word(), ok: Type.Boolean(), detail: sentence() })),
});
export type HubStatusAnswer = Static<typeof hubStatusAnswer>;

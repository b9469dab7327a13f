/** The messages cannot hold a secret where none belongs: every text names its kind, and the kinds are counted (I3, I12). */

import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { agentRoutes, enrolBody, heartbeatBody, problem, type Route, routes, textKinds } from './index.ts';
import { textFields } from './text-fields.fixture.ts';

const table: readonly (readonly [name: string, route: Route])[] = [
  ...Object.entries(routes),
  ...Object.entries(agentRoutes).map(([name, route]) => [`agent.${name}`, route] as const),
];
const answers = [...table.map(([name, { answer }]) => [name, answer] as const), ['problem', problem] as const];
const requests = table.flatMap(([name, { body, query }]) => [[name, body] as const, [`${name}?`, query] as const]);

/** What an answer may carry: public, hashed, sealed, signed, or written by Rollcall itself. */
const SAFE: ReadonlySet<string | undefined> = new Set([
  ...[
    'literal',
    'host-id',
    'name',
    'time',
    'fingerprint',
    'public-key',
    'ciphertext',
    'signature',
    'digest',
    'instance',
  ],
  ...['certificate', 'word', 'sentence', 'network-address'],
]);

/** Verbs that make a token and show it, once. */
const SHOWING = [
  ...['addHost.token', 'reenrolHost.token', 'issueHostToken.token'],
  ...['addOperator.token', 'rotateOperatorToken.token'],
];

/** Where a schema leaves the form open, and why nothing secret can be there. */
const OPEN: Readonly<Record<string, string>> = {
  'heartbeat.statements[]': 'signed as they stand: their form is in core, and they are the same for every host',
  'listAudit.records[].details{}': 'typed by the store as numbers, flags and texts; scanned in the end-to-end tests',
  'problem.details{}': 'typed by core as facts of an error, which hold neither secrets nor input',
  metrics: 'numbers by Prometheus; their labels are tested in the hub',
  'openApi{}': 'made from this very table, and from nothing else',
};

const fieldsOf = (schemas: readonly (readonly [string, unknown])[]) =>
  schemas.flatMap(([name, schema]) =>
    textFields(schema).map(({ at, kind }) => ({
      at: at === '' ? name : /^[[{]/.test(at) ? `${name}${at}` : `${name}.${at}`,
      kind,
    })),
  );

describe('every answer', () => {
  it('names the kind of each of its texts, and the kind is a safe one', () => {
    const fields = fieldsOf(answers);
    expect(fields.length).toBeGreaterThan(100);
    const unsafe = fields.filter(({ at, kind }) => !SAFE.has(kind) && kind !== 'unknown' && !SHOWING.includes(at));
    expect(unsafe).toEqual([]);
  });

  it('shows a token in those verbs alone that make one', () => {
    const showing = fieldsOf(answers).filter(({ kind }) => kind === 'shown-once');
    expect(showing.map(({ at }) => at).sort()).toEqual([...SHOWING].sort());
  });

  it('leaves its form open in a few places, each with a reason', () => {
    const open = fieldsOf(answers).filter(({ kind }) => kind === 'unknown');
    expect(open.map(({ at }) => at).sort()).toEqual(Object.keys(OPEN).sort());
  });
});

describe('every request', () => {
  it('names the kind of each of its texts', () => {
    const nameless = fieldsOf(requests).filter(({ kind }) => kind === undefined || kind === 'unknown');
    expect(nameless).toEqual([]);
  });

  it('brings a proof to the routes alone that take nothing else, and a secret over the operators’ listener alone', () => {
    const of = (wanted: string) =>
      fieldsOf(requests)
        .filter(({ kind }) => kind === wanted)
        .map(({ at }) => at);
    expect(of('proof')).toEqual(['enrol.proof', 'issueCertificate.answer']);
    const bringing = table.filter(([, { body }]) => textFields(body).some(({ kind }) => kind === 'secret-in'));
    expect(bringing.map(([name, { listener }]) => [name, listener])).toEqual([['createSecret', 'operator']]);
    expect(fieldsOf([['heartbeat', heartbeatBody]]).map(({ kind }) => kind)).not.toContain('secret-in');
    expect(textFields(enrolBody).map(({ at }) => at)).toContain('proof');
  });
});

describe('a bad example is seen', () => {
  it.each([
    ['a text without a kind', Type.Object({ key: Type.String() }), { at: 'key', kind: undefined }],
    [
      'a proof',
      Type.Object({ deep: Type.Array(Type.Object({ p: textKinds.proof() })) }),
      { at: 'deep[].p', kind: 'proof' },
    ],
    ['a secret in a branch', Type.Union([Type.Null(), textKinds.secretIn(10)]), { at: '', kind: 'secret-in' }],
    ['a token', Type.Object({ t: Type.Optional(textKinds.shownOnce()) }), { at: 't', kind: 'shown-once' }],
    ['a text as a value of a map', Type.Record(textKinds.name(), Type.String()), { at: '{}', kind: undefined }],
    ['anything', Type.Object({ x: Type.Unknown() }), { at: 'x', kind: 'unknown' }],
    ['whatever else', Type.Object({}, { additionalProperties: true }), { at: '{}', kind: 'unknown' }],
    ['an array of anything', Type.Array(Type.Unknown()), { at: '[]', kind: 'unknown' }],
  ])('%s', (_name, schema, field) => {
    expect(textFields(schema)).toContainEqual(field);
  });

  it('and a good one is let pass', () => {
    const good = Type.Object({
      host: textKinds.hostId(),
      n: Type.Integer(),
      ok: Type.Boolean(),
      at: Type.Literal('x'),
    });
    expect(textFields(good).every(({ kind }) => SAFE.has(kind))).toBe(true);
  });
});

/** A shared token, as a rotation: its verifiers and callers are whoever holds it (design 5). */
import { encodeHex } from '@rollcall/core/bytes';
import { limits } from '@rollcall/core/limits';
import {
  decideTokenCut,
  decideTokenStart,
  goesOnByItself,
  type Holder,
  isRunning,
  mustNarrowNow,
  planWave,
  type Rotation,
} from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import { insertRotation } from '../../store/rotations.ts';
import type { Tx } from '../../store/schema.ts';
import { deleteTokenCounts } from '../../store/token-counts.ts';
import { listTokenVersions, writeToken, writeTokenVersion } from '../../store/tokens.ts';
import { toTimeOrNull } from '../../views/hosts.ts';
import type { Subject } from '../rotation/subject.ts';
import { drawVersion, readToken } from './create-token.ts';
import { issueTokenSteps } from './issue-token-steps.ts';
import { observeHolders } from './observe-holders.ts';
import { probeVerifiers } from './probe-verifiers.ts';
import { type TokenView, viewToken } from './view-token.ts';

export const tokenSubject: Subject<TokenView> = {
  async start(hub, tx, latest, input) {
    const { secret, narrowByMs, auto = 'off', batch = limits.tokenBatch } = input;
    const token = await readToken(hub, tx, secret);
    const versions = await listTokenVersions(tx, hub.vault, secret);
    const highest = Math.max(...versions.map(({ version }) => version));
    const holders = await observeHolders(hub, tx, secret, latest);
    const id = `r-${encodeHex(hub.random(6))}`;
    const request = { ...input, auto, batch, id, beatMs: hub.settings.beatMs, narrowByMaxMs: limits.narrowByMaxMs };
    const rotation = decideTokenStart(latest, token.currentVersion, highest, request, holders, hub.clock.read());
    await drawVersion(hub, tx, secret, rotation.to);
    await insertRotation(tx, hub.vault, rotation);
    await issueTokenSteps(hub, tx, secret, hostsOf(holders));
    return { rotation, details: { narrowBy: toTimeOrNull(narrowByMs), auto, batch } };
  },

  observe: probeVerifiers,

  view: viewToken,

  mustNarrow: ({ rotation }, nowMs) => (mustNarrowNow(rotation, nowMs) ? 'narrow_by' : null),

  planWave({ rotation, holders }, nowMs) {
    const callers = holders.filter(({ presents, isReleased }) => presents && !isReleased);
    const { batch = 1, narrowByMs = null } = rotation.terms ?? {};
    // Once the end is said, whoever has not switched by then is cut off: one that refuses must not hold all others (scenario 39).
    const canaryIsOver = nowMs - rotation.phaseStartedAtMs >= limits.canaryMs;
    return planWave(rotation, callers, narrowByMs === null ? { batch } : { batch: 'everyone', canaryIsOver });
  },

  goesOnByItself: ({ rotation, gate, holders }) => goesOnByItself(rotation, gate, holders),

  switchMembers: (hub, tx, { rotation }, members) =>
    issueTokenSteps(hub, tx, rotation.secret, members, { switches: members }),

  async enter(hub, tx, { holders }, after) {
    if (!isRunning(after)) await settle(hub, tx, after);
    await issueTokenSteps(hub, tx, after.secret, hostsOf(holders));
  },

  evidence: ({ gate }) => ({ cutOff: gate.cutOff }),

  members: ({ holders }) => holders.map(({ id }) => id),

  async cut(hub, _tx, { rotation, holders }, input) {
    const cut = decideTokenCut(rotation, input, holders, hub.clock.now());
    return { rotation: cut, details: { until: toTimeOrNull(cut.terms?.narrowByMs ?? null), left: cut.left } };
  },
};

/** The version that is given up loses its value. */
async function settle(hub: Hub, tx: Tx, { secret, phase, from, to }: Rotation): Promise<void> {
  const [stays, goes] = phase === 'done' ? [to, from] : [from, to];
  const token = await readToken(hub, tx, secret);
  await writeToken(tx, hub.vault, { ...token, currentVersion: stays, weak: token.weak && stays === from });
  for (const version of await listTokenVersions(tx, hub.vault, secret)) {
    if (version.version === goes) await writeTokenVersion(tx, hub.vault, { ...version, value: undefined });
  }
  await deleteTokenCounts(tx, secret);
  // Should this transaction fail, its windows begin anew.
  hub.tokenHits.forget(secret);
  hub.tokenReports.forgetSecret(secret);
  hub.tokenProbes.forget(secret);
}

/**
 * Nothing is delivered to an evicted host, and it may come back: it gets its step when it enrols. One that was released holds nothing,
 * in whatever phase.
 */
function hostsOf(holders: readonly Pick<Holder, 'id' | 'kind' | 'status' | 'isReleased'>[]): string[] {
  return holders
    .filter(({ kind, status, isReleased }) => kind === 'host' && status !== 'evicted' && !isReleased)
    .map(({ id }) => id);
}

/** The walk of a shared token: started, stepped and turned back, each in one transaction with its record (design 5). */
import { encodeHex } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import {
  type Auto,
  decideAdvance,
  decideRollback,
  decideTokenStart,
  goesOnByItself,
  isRunning,
  mustNarrowNow,
  type Phase,
  planWave,
  type Rotation,
  type RotationReason,
} from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import { refresh } from '../../refresh.ts';
import { type Actor, hubActor } from '../../store/audit.ts';
import { findRotation, findRunning, insertRotation } from '../../store/rotations.ts';
import type { Tx } from '../../store/schema.ts';
import { listTokens, listTokenVersions, writeToken, writeTokenVersion } from '../../store/tokens.ts';
import { readRotation } from '../rotation/view.ts';
import { recordRotation, storeRotation } from '../rotation/write.ts';
import { drawVersion, readToken } from './create-token.ts';
import { issueTokenSteps } from './issue-token-steps.ts';
import { observeHolders } from './observe-holders.ts';
import { probeVerifiers } from './probe-verifiers.ts';
import { type TokenView, viewToken } from './view-token.ts';

export interface StartTokenInput {
  readonly secret: string;
  readonly reason: RotationReason;
  readonly leave: readonly string[];
  readonly narrowByMs: number | null;
  readonly auto: Auto;
  readonly batch: number;
}

/** The new version is durable, encrypted, before anything uses it (I11). */
export async function startToken(hub: Hub, input: StartTokenInput, actor: Actor): Promise<Rotation> {
  const started = await hub.db.transaction().execute(async (tx) => {
    const { secret } = input;
    const token = await readToken(hub, tx, secret);
    const latest = (await findRotation(tx, hub.vault, secret)) ?? null;
    const versions = await listTokenVersions(tx, hub.vault, secret);
    const highest = Math.max(...versions.map(({ version }) => version));
    const holders = await observeHolders(hub, tx, secret, latest);
    const request = {
      ...input,
      id: `r-${encodeHex(hub.random(6))}`,
      beatMs: hub.settings.beatMs,
      narrowByMaxMs: limits.narrowByMaxMs,
    };
    const rotation = decideTokenStart(latest, token.currentVersion, highest, request, holders, hub.clock.read());
    await drawVersion(hub, tx, secret, rotation.to);
    await insertRotation(tx, hub.vault, rotation);
    await issueTokenSteps(hub, tx, secret, hostsOf(holders));
    await hub.clock.save(tx);
    await recordRotation(hub, tx, rotation, actor, 'rotation.started', {
      reason: input.reason,
      narrowBy: toTimeOrNull(input.narrowByMs),
      auto: input.auto,
      batch: input.batch,
      left: rotation.left,
    });
    return rotation;
  });
  await refresh(hub);
  hub.nudgeRotation();
  return started;
}

/** What the walks of tokens do by themselves. Safe to repeat at any time; returns whether anything changed. */
export async function stepTokens(hub: Hub): Promise<boolean> {
  let changed = false;
  let failure: Error | undefined;
  for (const { name } of await listTokens(hub.db, hub.vault)) {
    // One whose rows cannot be read holds up no other; the job says so in the end.
    try {
      changed = (await stepToken(hub, name)) || changed;
    } catch (error) {
      failure ??= error as Error;
    }
  }
  if (failure !== undefined) throw failure;
  return changed;
}

async function stepToken(hub: Hub, secret: string): Promise<boolean> {
  const running = await findRunning(hub.db, hub.vault, secret);
  if (running === undefined) return false;
  await probeVerifiers(hub, running);
  const changed = await hub.db.transaction().execute(async (tx) => {
    const rotation = await findRunning(tx, hub.vault, secret);
    if (rotation === undefined) return false;
    const view = await viewToken(hub, tx, rotation);
    if (mustNarrowNow(rotation, hub.clock.now())) {
      const narrowed = {
        ...rotation,
        phase: 'narrowing',
        phaseStartedAtMs: hub.clock.now(),
        pausedBecause: null,
      } as const;
      await enter(hub, tx, view, narrowed, hubActor, { because: 'narrow_by', cutOff: view.gate.cutOff });
      return true;
    }
    if (await takeWave(hub, tx, view)) return true;
    if (!goesOnByItself(rotation, view.gate, view.holders)) return false;
    await advance(hub, tx, view, rotation.phase, hubActor);
    return true;
  });
  if (changed) await refresh(hub);
  return changed;
}

/** `rotation advance`: one step, if its gate is open. `expected` is the phase that the operator saw. */
export async function advanceToken(hub: Hub, id: string, expected: Phase | undefined, actor: Actor): Promise<void> {
  await act(hub, id, async (tx, view) => advance(hub, tx, view, expected ?? view.rotation.phase, actor));
}

/** Callers first, then verifiers. */
export async function rollBackToken(hub: Hub, id: string, reason: string, actor: Actor): Promise<void> {
  await act(hub, id, async (tx, view) => {
    const back = decideRollback(view.rotation, hub.clock.now());
    await enter(hub, tx, view, back, actor, { because: reason }, 'rotation.rolled_back');
  });
}

async function act(hub: Hub, id: string, decide: (tx: Tx, view: TokenView) => Promise<void>): Promise<void> {
  const before = await readRotation(hub, hub.db, id);
  if (isRunning(before)) await probeVerifiers(hub, before);
  await hub.db.transaction().execute(async (tx) => {
    const rotation = await readRotation(hub, tx, id);
    if (!isRunning(rotation)) throw new RollcallError('rotation_moved_on', { phase: rotation.phase });
    await decide(tx, await viewToken(hub, tx, rotation));
  });
  await refresh(hub);
  hub.nudgeRotation();
}

async function takeWave(hub: Hub, tx: Tx, { rotation, holders }: TokenView): Promise<boolean> {
  const callers = holders.filter(({ presents }) => presents);
  const wave = planWave(rotation, callers, { batch: rotation.terms?.batch ?? 1 });
  if (wave.kind === 'paused') {
    const paused = { ...rotation, pausedBecause: `${wave.member} refuses the delivery: ${wave.because}` };
    const details = { member: wave.member, because: wave.because };
    await keep(hub, tx, rotation, paused, hubActor, { action: 'rotation.paused', details });
    return true;
  }
  if (wave.members.length === 0 && wave.canary === rotation.canary) return false;
  const details = { canary: wave.canary, members: wave.members };
  await keep(hub, tx, rotation, { ...rotation, canary: wave.canary }, hubActor, { action: 'rotation.wave', details });
  await issueTokenSteps(hub, tx, rotation.secret, wave.members, { switches: wave.members });
  return true;
}

async function advance(hub: Hub, tx: Tx, view: TokenView, expected: Phase, actor: Actor): Promise<void> {
  const after = decideAdvance(view.rotation, view.gate, expected, hub.clock.now());
  await enter(hub, tx, view, after, actor, { cutOff: view.gate.cutOff });
}

/** A phase begins: every holder gets its sets, and where the walk has ended the version that is given up loses its value. */
async function enter(
  hub: Hub,
  tx: Tx,
  { rotation, holders }: TokenView,
  after: Rotation,
  actor: Actor,
  details: Readonly<Record<string, string | readonly string[]>>,
  action: string = 'rotation.advanced',
): Promise<void> {
  await storeRotation(hub, tx, after, rotation.phase);
  if (!isRunning(after)) await settle(hub, tx, after);
  await issueTokenSteps(hub, tx, after.secret, hostsOf(holders));
  await hub.clock.save(tx);
  await recordRotation(hub, tx, after, actor, action, { out_of: rotation.phase, ...details });
}

async function settle(hub: Hub, tx: Tx, { secret, phase, from, to }: Rotation): Promise<void> {
  const [stays, goes] = phase === 'done' ? [to, from] : [from, to];
  const token = await readToken(hub, tx, secret);
  await writeToken(tx, hub.vault, { ...token, currentVersion: stays, weak: token.weak && stays === from });
  for (const version of await listTokenVersions(tx, hub.vault, secret)) {
    if (version.version === goes) await writeTokenVersion(tx, hub.vault, { ...version, value: undefined });
  }
}

/** What is changed of a rotation that stays in its phase. */
async function keep(
  hub: Hub,
  tx: Tx,
  before: Rotation,
  after: Rotation,
  actor: Actor,
  record: { readonly action: string; readonly details: Parameters<typeof recordRotation>[5] },
): Promise<void> {
  await storeRotation(hub, tx, after, before.phase);
  await recordRotation(hub, tx, after, actor, record.action, record.details);
}

/** Nothing is delivered to an evicted host, and it may come back: it gets its step when it enrols. */
function hostsOf(
  holders: readonly { readonly id: string; readonly kind: string; readonly status: string }[],
): string[] {
  return holders.filter(({ kind, status }) => kind === 'host' && status !== 'evicted').map(({ id }) => id);
}

function toTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

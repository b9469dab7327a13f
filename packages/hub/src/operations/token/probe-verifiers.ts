/** Asks each verifier that the hub can reach what it takes and what it refuses, with a control, while a gate depends on it (design 5). */
import { decodeUtf8 } from '@rollcall/core/bytes';
import { isRollcallError } from '@rollcall/core/errors';
import { encodeToken } from '@rollcall/core/keys';
import type { Phase, Probe, Rotation } from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import { listAssignments } from '../../store/assignments.ts';
import { listRoll } from '../../store/hosts.ts';
import { EVERY_MEMBER, listHolders, listTokenVersions } from '../../store/tokens.ts';
import { REPLICA } from '../../token-hits.ts';
import { momentOfPhase, momentOfStep } from './observe-holders.ts';

/** In these the gate asks for probes. */
const probedPhases: ReadonlySet<Phase> = new Set(['widening', 'narrowing', 'withdrawing']);

/**
 * Those that passed for the present moment are not asked again; one that did not is asked ever more seldom. One that does not
 * answer has no probe, and holds the gate of this secret, and nothing else.
 */
export async function probeVerifiers(hub: Hub, rotation: Rotation, signal: AbortSignal): Promise<void> {
  if (!probedPhases.has(rotation.phase)) return;
  const texts = await textsOf(hub, rotation);
  const targets = [replicaTarget(hub, rotation), ...(await hostTargets(hub, rotation))];
  const due = targets.filter(({ member, moment }) => isDue(hub, rotation, member, moment));
  const work = async (): Promise<void> => {
    for (let next = due.shift(); next !== undefined && !signal.aborted; next = due.shift()) {
      await probeOne(hub, rotation, texts, next);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

const AT_ONCE = 16;

function isDue({ tokenProbes, clock }: Hub, rotation: Rotation, member: string, moment: string): boolean {
  const { secret } = rotation;
  if (passed(tokenProbes.find(secret, member, moment), rotation)) return false;
  return tokenProbes.askAgainAt(secret, member, moment) <= clock.monotonic();
}

async function probeOne(
  hub: Hub,
  rotation: Rotation,
  texts: ReadonlyMap<number, string>,
  { member, moment, ask }: Target,
): Promise<void> {
  const { secret } = rotation;
  try {
    const found = await probe(hub, texts, ask);
    hub.tokenProbes.write(secret, member, moment, found);
    if (passed(found, rotation)) return;
  } catch (error) {
    hub.log.warn('a verifier could not be probed', { member, ...faultOf(error) });
  }
  hub.tokenProbes.noteFailure(secret, member, moment, hub.clock.monotonic());
}

/** Which rule failed too: by the code alone nobody finds out why a listener is not believed. */
function faultOf(error: unknown): { readonly code: string; readonly reason?: string } {
  if (!isRollcallError(error)) return { code: 'internal' };
  const { reason } = error.details;
  return { code: error.code, ...(typeof reason === 'string' ? { reason } : {}) };
}

interface Target {
  readonly member: string;
  readonly moment: string;
  readonly ask: (token: string) => Promise<'taken' | 'refused'>;
}

function replicaTarget(hub: Hub, rotation: Rotation): Target {
  return { member: REPLICA, moment: momentOfPhase(rotation), ask: (token) => hub.ask.replica(token) };
}

async function hostTargets(hub: Hub, { secret }: Rotation): Promise<Target[]> {
  const members = new Set(await listHolders(hub.db, hub.vault, secret));
  const standing = await listAssignments(hub.db, hub.vault, secret);
  return (await listRoll(hub.db, hub.vault)).flatMap((host) => {
    const wanted = standing.get(host.id);
    const isHolder = members.has(host.id) || members.has(EVERY_MEMBER);
    if (!isHolder || host.status !== 'active' || host.reach !== 'push' || host.address === null) return [];
    // Before it has said that it holds this step, what its listener takes is another step's.
    if (typeof wanted !== 'object' || wanted.ackedStep !== wanted.step) return [];
    const target = { host: host.id, address: host.address };
    return [{ member: host.id, moment: momentOfStep(wanted), ask: (token: string) => hub.ask.host(target, token) }];
  });
}

async function probe(hub: Hub, texts: ReadonlyMap<number, string>, ask: Target['ask']): Promise<Probe> {
  const takes: number[] = [];
  const refuses: number[] = [];
  for (const [version, text] of texts) ((await ask(text)) === 'taken' ? takes : refuses).push(version);
  const randomRefused = (await ask(encodeToken('rcf', hub.random(32)))) === 'refused';
  return { takes, refuses, randomRefused };
}

/** Both versions, by number. One that was destroyed cannot be asked about. */
async function textsOf(hub: Hub, { secret, from, to }: Rotation): Promise<ReadonlyMap<number, string>> {
  const versions = await listTokenVersions(hub.db, hub.vault, secret);
  return new Map(
    versions.flatMap(({ version, value }) => {
      const text = value === undefined ? undefined : decodeUtf8(value.reveal());
      return text === undefined || (version !== from && version !== to) ? [] : [[version, text]];
    }),
  );
}

/** Whether it says all that the gate of this phase asks for; else it is asked again, since the verifier may have come along. */
function passed(found: Probe | null, { phase, from, to }: Rotation): boolean {
  if (found === null || !found.randomRefused) return false;
  if (phase === 'widening') return found.takes.includes(from) && found.takes.includes(to);
  const [stays, goes] = phase === 'narrowing' ? [to, from] : [from, to];
  return found.takes.includes(stays) && found.refuses.includes(goes);
}

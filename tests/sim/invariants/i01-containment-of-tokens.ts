/** I1 for shared tokens: every verifier takes what every caller is told to present, at every moment. */
import type { Call } from '../acts/callers.ts';
import type { AgentMachine } from '../machines/agent-machine.ts';
import type { StoreSnapshot } from '../machines/store-snapshot.ts';
import { ownSets, runningOf } from '../own-phases.ts';
import { HUB, holds, type TokenLedger, toldAt } from '../token-ledger.ts';
import type { World } from '../world.ts';
import { assertThat, type Check } from './invariant.ts';

/** After each change of anybody: who is bound presents nothing that one who is bound would refuse. */
const everyVerifierTakesWhatIsPresented: Check = {
  onCommit: (world) => assertContainment(world),
  onAgentState: (world) => assertContainment(world),
};

function assertContainment(world: World): void {
  const ledger = world.tokens?.ledger;
  if (ledger === undefined) return;
  for (const secret of world.snapshot.currentTokens.keys()) {
    const hosts = heldBy(world, ledger, secret);
    const verifiers = [
      { name: HUB, takes: takenByHub(ledger, world.snapshot, secret) },
      ...hosts.filter(({ machine }) => machine.listens),
    ];
    for (const { name: caller, presents } of hosts) {
      if (ledger.hasEnded({ secret, version: presents })) continue;
      for (const { name, takes } of verifiers) {
        assertThat(
          takes.includes(presents),
          'I1',
          () => `${name} takes ${takes} of ${secret}, and ${caller} presents ${presents}`,
        );
      }
    }
  }
}

/** A caller that presents what its keeper is told at this moment is let in by everyone who is there. */
const noCallerIsRefused: Check = {
  onCalled: (world, call, status) => {
    const ledger = world.tokens?.ledger;
    const known = ledger?.values.get(call.text);
    if (ledger === undefined || known === undefined || status !== 401 || ledger.hasEnded(known)) return;
    const isMeant = isToldNow(world, ledger, call) && isVerifier(world, ledger, call, known.version);
    assertThat(
      !isMeant,
      'I1',
      () => `${call.verifier} refused ${call.caller.name} with version ${known.version} of ${known.secret}`,
    );
  },
};

/** Told, and bound to it: it has come along with its last step, or was never let go since. */
function isToldNow(world: World, ledger: TokenLedger, { caller, text }: Call): boolean {
  const { keeper, secret } = caller;
  if (keeper === undefined) return false;
  return ledger.isBound(secret, keeper) && toldAt(world.agents.get(keeper), secret) === text;
}

function isVerifier(world: World, ledger: TokenLedger, { caller, verifier }: Call, version: number): boolean {
  if (verifier !== HUB) return ledger.isBound(caller.secret, verifier);
  return takenByHub(ledger, world.snapshot, caller.secret).includes(version);
}

/** Whoever is given a step is given exactly that of the phase: who joins, enrols anew, comes back, or has its turn. */
const stepsAreOfThePhase: Check = {
  onCommit: (world, before, after) => {
    const ledger = world.tokens?.ledger;
    if (ledger === undefined) return;
    for (const [key, row] of after.tokenAssignments) {
      const { secret, host, step, accept, present } = row;
      if ((before.tokenAssignments.get(key)?.step ?? 0) >= step || world.ledger.tainted.has(host)) continue;
      // Who holds it no more is told to forget it.
      if (!holds(after, secret, host) && accept === '[]') continue;
      const own = [false, true].map((hasEnded) => ownSets(after, secret, hasEnded && mayEnd(after, secret)));
      const given = `${inOrder(JSON.parse(accept) as number[])} ${present}`;
      const isOfThePhase = own.some(({ takes, presents }) =>
        presents.some((version) => given === `${inOrder(takes)} ${version}`),
      );
      const { phase } = runningOf(after, secret) ?? { phase: 'no rotation' };
      assertThat(isOfThePhase, 'I1', () => `${host} is given ${given} of ${secret} in ${phase}`);
    }
  },
};

function inOrder(versions: readonly number[]): readonly number[] {
  return [...versions].sort((a, b) => a - b);
}

function mayEnd(snapshot: StoreSnapshot, secret: string): boolean {
  return (runningOf(snapshot, secret)?.narrow_by ?? null) !== null;
}

export function takenByHub(ledger: TokenLedger, snapshot: StoreSnapshot, secret: string): readonly number[] {
  const rotation = runningOf(snapshot, secret);
  const hasEnded = rotation !== undefined && ledger.hasEnded({ secret, version: rotation.from_version });
  return ownSets(snapshot, secret, hasEnded && rotation.narrow_by !== null).takes;
}

interface Holding {
  readonly name: string;
  readonly machine: AgentMachine;
  readonly takes: readonly number[];
  readonly presents: number;
}

/** What is in force at the hosts that are bound, each on its own machine. */
function heldBy(world: World, ledger: TokenLedger, secret: string): readonly Holding[] {
  return [...world.agents.values()].flatMap((machine) => {
    const { name, host, state } = machine;
    const held = state?.durable.assignments.get(secret);
    if (name !== host || held === undefined || !ledger.isBound(secret, host)) return [];
    return [{ name, machine, takes: held.accept.map(({ version }) => version), presents: held.present }];
  });
}

export const containmentOfTokens: readonly Check[] = [
  everyVerifierTakesWhatIsPresented,
  noCallerIsRefused,
  stepsAreOfThePhase,
];

/**
 * What an agent asks of its own listener after it has applied a step of a shared token, and what the answers say (design 5, Probes):
 * each version that is to be taken, the one that is to be taken no more, and the control, a value that nobody has.
 */
import { decodeUtf8 } from '@rollcall/core/bytes';
import { encodeToken, SecretBytes } from '@rollcall/core/keys';
import type { Random } from '@rollcall/core/ports';
import type { Assignment } from '@rollcall/core/seal';
import type { ProbeReport } from '@rollcall/wire';

export interface ProbePlan {
  readonly secret: string;
  readonly epoch: number;
  readonly step: number;
  readonly expectTaken: readonly ProbedVersion[];
  /** Dropped by this step: as its hub names it, or as the step before took it. */
  readonly expectRefused: readonly ProbedVersion[];
}

export interface ProbedVersion {
  readonly version: number;
  readonly value: SecretBytes<'token'>;
}

/** `before`: what was held until now; after a start there is none, and what is refused is what the step itself names. */
export function planProbe(before: Assignment | undefined, held: Assignment): ProbePlan {
  const { secret, epoch, step, accept, refuse = [] } = held;
  const expectTaken = tokensOf(accept);
  const known = new Set([...expectTaken, ...refuse].map(({ version }) => version));
  const remembered = tokensOf(before?.accept ?? []).filter(({ version }) => !known.has(version));
  const expectRefused = [...refuse, ...remembered];
  return { secret, epoch, step, expectTaken, expectRefused };
}

/** The same plan for the values that its host still holds. */
export function planAgain(assignment: Assignment): ProbePlan {
  return planProbe(undefined, assignment);
}

export type Asked = 'taken' | 'refused';

/** `ask` presents a token to the listener; it rejects where there was no answer that says either. */
export async function performProbe(
  plan: ProbePlan,
  ask: (token: string) => Promise<Asked>,
  at: { readonly random: Random; readonly now: () => number },
): Promise<ProbeReport> {
  const takes: number[] = [];
  const refuses: number[] = [];
  for (const { version, value } of [...plan.expectTaken, ...plan.expectRefused]) {
    ((await ask(textOf(value))) === 'taken' ? takes : refuses).push(version);
  }
  const randomRefused = (await ask(encodeToken('rcf', at.random(CONTROL_BYTES)))) === 'refused';
  return { secret: plan.secret, step: plan.step, takes, refuses, randomRefused, at: new Date(at.now()).toISOString() };
}

export function hasPassed({ expectTaken, expectRefused }: ProbePlan, report: ProbeReport): boolean {
  return (
    report.randomRefused &&
    expectTaken.every(({ version }) => report.takes.includes(version)) &&
    expectRefused.every(({ version }) => report.refuses.includes(version))
  );
}

const CONTROL_BYTES = 32;

function tokensOf(accept: Assignment['accept']): readonly ProbedVersion[] {
  return accept.flatMap(({ version, value }) => (value instanceof SecretBytes ? [{ version, value }] : []));
}

function textOf(value: SecretBytes<'token'>): string {
  return decodeUtf8(value.reveal()) ?? '';
}

/**
 * Does the time of a verifier of shared tokens tell how near a wrong one came, or which of the right ones it was (design 3, I13)? As in
 * timing.ts: in a random order, the means compared, three times over. Two controls each: a kind against itself, which must not differ;
 * and what does tell: one hash more after a refusal, and a comparison that stops at the first version that fits.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { encodeToken } from '@rollcall/core/keys';
import { createTokenVerifier, type TokenVerifier } from '@rollcall/core/verify';
import { atLeast, atMost, type BenchResult, figure } from './measure.ts';
import { compare, means, type Samples, T_BOUND } from './timing/welch.ts';

const REPEATS = 3;
/** Of the two kinds that are compared, together. */
const SAMPLES_PER_PAIR = 300_000;
const WARM_UP = 20_000;
/** Copies of one text that take turns. */
const COPIES = 64;

interface Kind {
  readonly name: string;
  readonly presented: readonly string[];
  readonly verify: (presented: string) => unknown;
  /** Whether it must differ from the first one, or must not. */
  readonly isControl?: true;
}

export async function benchTokenTiming(): Promise<BenchResult[]> {
  const [current, other] = [randomToken(), randomToken()];
  const first = { version: 4, value: current };
  const second = { version: 5, value: other };
  const widened = createTokenVerifier({ current: first, next: second });
  const narrowing = createTokenVerifier({ current: first, retiring: second });
  return [
    figure('token_timing.samples_per_pair', SAMPLES_PER_PAIR, `, ${REPEATS} times`),
    ...(await benchKinds('refused', refusedKinds(widened))),
    ...(await benchKinds('next', acceptedKinds(widened, current, other, 'next'))),
    ...(await benchKinds('retiring', acceptedKinds(narrowing, current, other, 'retiring'))),
    ...(await benchKinds('control', hastyKinds(current, other))),
  ];
}

function refusedKinds(verifier: TokenVerifier): readonly Kind[] {
  const wrong = () => Array.from({ length: COPIES }, randomToken);
  const verify = (presented: string) => refuse(verifier, presented);
  return [
    { name: 'wrong value', presented: wrong(), verify },
    { name: 'wrong value, again', presented: wrong(), verify },
    // As many blocks of SHA-256: whoever presents it knows how long it is, and the question is how long the right one is.
    { name: 'too short', presented: wrong().map((text) => flat(text.slice(0, -1))), verify },
    { name: 'too long', presented: wrong().map((text) => flat(`${text}x`)), verify },
    {
      name: 'control: one hash more',
      presented: wrong(),
      verify: (presented) => {
        refuse(verifier, presented);
        hash('sha256', presented, 'binary');
      },
      isControl: true,
    },
  ];
}

function acceptedKinds(verifier: TokenVerifier, current: string, other: string, role: string): readonly Kind[] {
  const verify = (presented: string) => verifier.verify(presented);
  return [
    { name: 'current', presented: copies(current), verify },
    { name: 'current, again', presented: copies(current), verify },
    { name: role, presented: copies(other), verify },
  ];
}

function hastyKinds(current: string, other: string): readonly Kind[] {
  const verify = createHastyVerifier([current, other]);
  return [
    { name: 'current', presented: copies(current), verify },
    { name: 'stops at the first that fits', presented: copies(other), verify, isControl: true },
  ];
}

function copies(text: string): readonly string[] {
  return Array.from({ length: COPIES }, () => flat(text));
}

/** What must be caught: as much work as ours for the last version, and less for the first. */
function createHastyVerifier(values: readonly string[]): (presented: string) => unknown {
  const digests = values.map((value) => hash('sha256', value, 'buffer'));
  return (presented) => {
    const digest = hash('sha256', presented, 'buffer');
    for (const [index, one] of digests.entries()) if (timingSafeEqual(one, digest)) return { index };
    throw new Error('token timing: a right token was refused');
  };
}

async function benchKinds(group: string, kinds: readonly Kind[]): Promise<BenchResult[]> {
  const runs: (readonly number[])[] = [];
  let last: readonly number[] = [];
  await sample(kinds, WARM_UP);
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const samples = await sample(kinds, (SAMPLES_PER_PAIR / 2) * kinds.length);
    runs.push(compare(samples, kinds.length));
    last = means(samples, kinds.length);
  }
  return kinds.slice(1).map(({ name, isControl }, index) => {
    const all = runs.map((run) => Math.abs(run[index + 1] ?? 0));
    const unit = `|t| against ${kinds[0]?.name}; mean ${(last[index + 1] ?? 0).toFixed(2)} µs`;
    const id = `token_timing.${group}.${name.replaceAll(/[^a-z]+/g, '_')}`;
    return isControl === undefined
      ? atMost(id, Math.max(...all), unit, T_BOUND)
      : atLeast(id, Math.min(...all), unit, T_BOUND);
  });
}

async function sample(kinds: readonly Kind[], count: number): Promise<Samples> {
  const times = new Float64Array(count);
  const classes = Uint8Array.from({ length: count }, () => Math.floor(Math.random() * kinds.length));
  for (let at = 0; at < count; at += 1) {
    const { presented, verify } = kinds[classes[at] as number] as Kind;
    const text = presented[at % COPIES] as string;
    if (at % 64 === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    const startedAt = process.hrtime.bigint();
    verify(text);
    times[at] = Number(process.hrtime.bigint() - startedAt);
  }
  return { classes, times };
}

function refuse(verifier: TokenVerifier, presented: string): void {
  try {
    verifier.verify(presented);
  } catch {
    return;
  }
  throw new Error('token timing: a wrong token was taken');
}

function randomToken(): string {
  return flat(encodeToken('rcf', randomBytes(32)));
}

/** A text that was put together is a tree of its parts until it is read, and reading it the first time takes longer. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/**
 * Does the time of a verifier of shared tokens tell how near a wrong one came, or which of the right ones it was (design 3, I13)? As in
 * timing.ts: in a random order, the means compared, three times over; but within the samples of one verifier each. Two controls: a
 * kind against itself, which must not differ; and what does tell: one hash more after a refusal, and a comparison that stops at the
 * first version that fits.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { encodeToken } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { createTokenVerifier, type TokenVerifier } from '@rollcall/core/verify';
import { atLeast, atMost, type BenchResult, figure } from './measure.ts';
import { compareWithin, means, type Samples, T_BOUND } from './timing/welch.ts';

const REPEATS = 3;
/** Of the two kinds that are compared, together. */
const SAMPLES_PER_PAIR = 300_000;
const WARM_UP = 20_000;
/** Different texts of one kind that take turns. */
const TEXTS = 64;

/** After so many samples every kind gets a verifier of its own anew: where one happens to lie costs a few nanoseconds, and tells nobody anything. */
const SAMPLES_PER_VERIFIER = 500;

interface Kind {
  readonly name: string;
  readonly presented: readonly string[];
  readonly prepare: () => (presented: string) => unknown;
  /** Whether it must differ from the first one, or must not. */
  readonly isControl?: true;
}

export async function benchTokenTiming(): Promise<BenchResult[]> {
  const [current, other] = [randomToken(), randomToken()];
  return [
    figure('token_timing.samples_per_pair', SAMPLES_PER_PAIR, `, ${REPEATS} times`),
    ...(await benchKinds('refused', refusedKinds())),
    ...(await benchKinds('next', acceptedKinds(current, other, 'next'))),
    ...(await benchKinds('retiring', acceptedKinds(current, other, 'retiring'))),
    ...(await benchKinds('control', hastyKinds(current, other))),
  ];
}

/** One and the same length is presented: whoever does knows it, and the question is whether time tells that the right one is another. */
function refusedKinds(): readonly Kind[] {
  const kind = (name: string, change: (token: string) => string, more?: (presented: string) => void) => ({
    name,
    presented: Array.from({ length: TEXTS }, randomToken),
    prepare: () => refusing(verifierOf(change), more),
  });
  const same = (token: string) => token;
  return [
    kind('wrong value', same),
    kind('wrong value, again', same),
    kind('too short', (token) => `${token}xxx`),
    kind('too long', (token) => token.slice(0, 30)),
    { ...kind('control: one hash more', same, hashOnceMore), isControl: true },
  ];
}

function verifierOf(change: (token: string) => string): TokenVerifier {
  const [current, next] = [change(randomToken()), change(randomToken())];
  return createTokenVerifier({ current: { version: 4, value: current }, next: { version: 5, value: next } });
}

function acceptedKinds(current: string, other: string, role: 'next' | 'retiring'): readonly Kind[] {
  const prepare = () => {
    const verifier = createTokenVerifier({
      current: { version: 4, value: current },
      [role]: { version: role === 'next' ? 5 : 3, value: other },
    });
    return (presented: string) => verifier.verify(presented);
  };
  return [
    { name: 'current', presented: [current], prepare },
    { name: 'current, again', presented: [current], prepare },
    { name: role, presented: [other], prepare },
  ];
}

function hastyKinds(current: string, other: string): readonly Kind[] {
  const prepare = () => createHastyVerifier([current, other]);
  return [
    { name: 'current', presented: [current], prepare },
    { name: 'stops at the first that fits', presented: [other], prepare, isControl: true },
  ];
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
    runs.push(compareWithin(samples, kinds.length, SAMPLES_PER_VERIFIER));
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
  let verifiers: readonly ReturnType<Kind['prepare']>[] = [];
  for (let at = 0; at < count; at += 1) {
    if (at % SAMPLES_PER_VERIFIER === 0) verifiers = prepareAll(kinds);
    const kind = classes[at] as number;
    const { presented } = kinds[kind] as Kind;
    const verify = verifiers[kind] as ReturnType<Kind['prepare']>;
    if (at % 64 === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    const text = asRead(presented[at % presented.length] as string);
    const startedAt = process.hrtime.bigint();
    verify(text);
    times[at] = Number(process.hrtime.bigint() - startedAt);
  }
  return { classes, times };
}

/**
 * In a random order, so that no kind is always the first. Kinds that are told apart by what is presented alone ask one and the same
 * verifier, as whoever measures one does: where two of them lie is no part of the question.
 */
function prepareAll(kinds: readonly Kind[]): readonly ReturnType<Kind['prepare']>[] {
  const made = new Map<Kind['prepare'], ReturnType<Kind['prepare']>>();
  const order = kinds.map(({ prepare }) => ({ prepare, by: Math.random() })).sort((a, b) => a.by - b.by);
  for (const { prepare } of order) if (!made.has(prepare)) made.set(prepare, prepare());
  return kinds.map(({ prepare }) => made.get(prepare) as ReturnType<Kind['prepare']>);
}

function refusing(verifier: TokenVerifier, more: (presented: string) => void = nothing) {
  return (presented: string): void => {
    try {
      verifier.verify(presented);
    } catch {
      more(presented);
      return;
    }
    throw new Error('token timing: a wrong token was taken');
  };
}

function nothing(): void {}

function hashOnceMore(presented: string): void {
  hash('sha256', presented, 'binary');
}

function randomToken(): string {
  return encodeToken('rcf', randomBytes(32));
}

const received = Buffer.alloc(limits.importedTokenMaxCharacters);

/** A text of its own, read from where all of them are read, as a server reads it: one that lay elsewhere may be in the cache, or not. */
function asRead(text: string): string {
  return received.toString('latin1', 0, received.write(text, 'latin1'));
}

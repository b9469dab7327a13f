/**
 * What this host's verifiers were sent, by secret and version, and who sent a version other than the one that
 * this host presents: on the way out, or on the way back (design 5, Counters).
 * Counts only grow while their counter has the same id. They outlive a clean stop; after any other end the counter is another one,
 * and the hub knows that some may be missing.
 */
import { encodeBase64url } from '@rollcall/core/bytes';
import {
  type JsonObject,
  type JsonValue,
  readArray,
  readBytes,
  readInteger,
  readMember,
  readObject,
} from '@rollcall/core/json';
import { parseSecretName } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import type { Random } from '@rollcall/core/ports';
import { keepFairly } from '@rollcall/core/rotation';
import { networkOf, type TokenReport } from '@rollcall/wire';
import type { AcceptedToken } from './acceptance.ts';

export interface SeenCaller {
  readonly atMs: number;
  readonly address: string;
  readonly userAgent: string;
  /** Of the table of routes: a path may hold anything that a caller likes. */
  readonly route: string;
  readonly declaredHost: string | null;
}

export interface TokenCounters {
  /** Only secrets that are held have a count; those that are held no more are forgotten, with the id of their counter. */
  hold(accepted: readonly AcceptedToken[]): void;
  /** One accepted request. */
  note(tokens: readonly AcceptedToken[], caller: SeenCaller): void;
  reports(): readonly TokenReport[];
  /** The reports were taken: who was named in them need not be named again. */
  reported(reports: readonly TokenReport[]): void;
  /** For the time in which no agent runs. */
  encode(): JsonObject;
}

/** `kept`: what the agent before this one wrote at a clean stop. Throws where it is not that. */
export function createTokenCounters(random: Random, kept?: JsonValue): TokenCounters {
  const counters = new Map<string, Counter>(kept === undefined ? [] : parseCounters(kept));
  return {
    hold(accepted) {
      const secrets = new Set(accepted.map(({ secret }) => secret));
      for (const secret of counters.keys()) if (!secrets.has(secret)) counters.delete(secret);
      for (const secret of secrets) {
        const counter = counters.get(secret) ?? newCounter(encodeBase64url(random(COUNTER_BYTES)));
        counters.set(secret, counter);
        const versions = accepted.filter((token) => token.secret === secret).map(({ version }) => version);
        // Zero is said, not left out: silence would be no evidence.
        for (const version of versions) if (!counter.hits.has(version)) counter.hits.set(version, 0);
        forgetOthers(counter, versions);
      }
    },
    note(tokens, caller) {
      for (const token of new Set(tokens)) {
        const counter = counters.get(token.secret);
        const count = counter?.hits.get(token.version);
        // What is not held has no count, and none is begun: a count that began after the first hit would be a wrong one.
        if (counter === undefined || count === undefined) continue;
        counter.hits.set(token.version, count + 1);
        // On the way back the version that goes is the higher one. Which of the two goes is known to the hub.
        if (token.role !== 'current') addSample(counter, token.version, caller);
      }
    },
    reports() {
      const newest = newestSamples(counters);
      return [...counters].slice(0, limits.namedSecrets).map(([secret, { id, hits, samples }]) => ({
        secret,
        counter: id,
        hits: [...hits].map(([version, count]) => ({ version, count })),
        samples: [...samples.values()].filter((sample) => newest.has(sample)),
      }));
    },
    reported(reports) {
      for (const { secret, samples } of reports) {
        const held = counters.get(secret)?.samples;
        // One that came again meanwhile is another sample, with its new time.
        for (const sample of samples) if (held?.get(keyOf(sample)) === sample) held.delete(keyOf(sample));
      }
    },
    encode: () => ({
      counters: [...counters].map(([secret, { id, hits }]) => ({
        secret,
        id,
        hits: [...hits].map(([version, count]) => ({ version, count })),
      })),
    }),
  };
}

const COUNTER_BYTES = 16;

type Sample = TokenReport['samples'][number];

interface Counter {
  readonly id: string;
  readonly hits: Map<number, number>;
  /** By who and what, so that one that asks every second leaves room for another; the oldest first. */
  readonly samples: Map<string, Sample>;
}

function newCounter(id: string): Counter {
  return { id, hits: new Map(), samples: new Map() };
}

/**
 * Never one that is accepted: after a rollback the retiring version may be the lowest of all. Of the others the lowest first, since
 * it is asked about no more.
 */
function forgetOthers({ hits }: Counter, accepted: readonly number[]): void {
  const others = [...hits.keys()].filter((version) => !accepted.includes(version)).sort((a, b) => a - b);
  for (const version of others.slice(0, Math.max(0, hits.size - limits.countedVersions))) hits.delete(version);
}

function addSample({ samples }: Counter, version: number, caller: SeenCaller): void {
  const sample: Sample = {
    at: new Date(caller.atMs).toISOString(),
    address: printable(caller.address, ADDRESS_CHARACTERS),
    userAgent: printable(caller.userAgent, limits.userAgentCharacters),
    route: printable(caller.route, limits.routeCharacters),
    host: caller.declaredHost,
    version,
  };
  const key = keyOf(sample);
  samples.delete(key);
  samples.set(key, sample);
  if (samples.size <= limits.hitSamplesPerBeat) return;
  // Many names of one network push nobody out.
  const kept = new Set(keepFairly([...samples.values()].reverse(), limits.hitSamplesPerBeat, networkOfSample));
  for (const [of, one] of samples) if (!kept.has(one)) samples.delete(of);
}

function keyOf({ address, userAgent, route, host, version }: Sample): string {
  return JSON.stringify([address, userAgent, route, host, version]);
}

const ADDRESS_CHARACTERS = 64;

/** Plain ASCII, so that its length as text is nearly its length in a beat. */
function printable(text: string, maxCharacters: number): string {
  return text.slice(0, maxCharacters).replaceAll(/[^\x20-\x7e]|["\\]/g, '?');
}

/** Over all secrets no more than a beat has room for. */
function newestSamples(counters: ReadonlyMap<string, Counter>): ReadonlySet<Sample> {
  const all = [...counters.values()].flatMap(({ samples }) => [...samples.values()]);
  const newestFirst = all.sort((a, b) => (a.at < b.at ? 1 : -1));
  return new Set(keepFairly(newestFirst, limits.hitSamplesInAll, networkOfSample));
}

function networkOfSample({ address }: Sample): string {
  return networkOf(address);
}

function parseCounters(value: JsonValue): [string, Counter][] {
  const list = readArray(readMember(readObject(value, 'counters'), 'counters'), 'counters', limits.secretsPerHost);
  return list.map((item) => {
    const counter = readObject(item, 'counter');
    const id = encodeBase64url(readBytes(readMember(counter, 'id'), 'id', COUNTER_BYTES));
    const hits = readArray(readMember(counter, 'hits'), 'hits', limits.countedVersions).map((hit) => {
      const { version, count } = readObject(hit, 'hit');
      return [readInteger(version, 'version'), readInteger(count, 'count', 0)] as const;
    });
    return [parseSecretName(readMember(counter, 'secret')), { ...newCounter(id), hits: new Map(hits) }];
  });
}

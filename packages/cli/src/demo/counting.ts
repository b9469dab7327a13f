/** Every beat, counted where it was sent and where it arrived. */
import { request } from 'node:http';
import { readAll } from '../adapters/node-io.ts';

/** Beats by what came of them. */
export type Beats = Readonly<Record<string, number>>;

export interface Count {
  readonly hub: Beats;
  readonly agents: Beats;
  readonly thief: Beats;
}

/** What an agent calls a refusal at authentication, and what the hub does. */
const hubNames: Readonly<Record<string, string>> = { unauthenticated: 'refused' };

/** Beats that the hub cannot have seen: nobody answered, or the agent would not speak to whoever did. */
export const neverArrived: readonly string[] = ['unreachable', 'hub_untrusted'];

/** Adds up what several agents counted, under the hub's names. */
export function addUp(counts: readonly Beats[]): Beats {
  const sum: Record<string, number> = {};
  for (const count of counts) {
    for (const [result, n] of Object.entries(count)) {
      const name = hubNames[result] ?? result;
      sum[name] = (sum[name] ?? 0) + n;
    }
  }
  return sum;
}

/** Results in which the hub's count is not the sum of what was sent; none when all agree. */
export function disagreements({ hub, agents, thief }: Count): readonly string[] {
  const results = new Set([...Object.keys(hub), ...Object.keys(agents), ...Object.keys(thief)]);
  return [...results]
    .filter((result) => !neverArrived.includes(result))
    .filter((result) => (hub[result] ?? 0) !== (agents[result] ?? 0) + (thief[result] ?? 0))
    .map((result) => `${result}: hub ${hub[result] ?? 0}, sent ${(agents[result] ?? 0) + (thief[result] ?? 0)}`);
}

/** Beats of agents that reached the hub and came to anything but `ok`. */
export function refusedOf(agents: Beats): number {
  return Object.entries(agents)
    .filter(([result]) => result !== 'ok' && !neverArrived.includes(result))
    .reduce((sum, [, n]) => sum + n, 0);
}

/** `rollcall_heartbeats_total` of a text exposition, by result. */
export function parseHeartbeats(exposition: string): Beats {
  const lines = exposition.matchAll(/^rollcall_heartbeats_total\{result="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, result = '', n]) => [result, Number(n)]));
}

/** Reads the hub's own count where Prometheus would. */
export async function scrapeHeartbeats(metricsAddress: string): Promise<Beats> {
  const text = await new Promise<Uint8Array>((resolve, reject) => {
    const asked = request(`http://${metricsAddress}/metrics`, { agent: false, timeout: SCRAPE_MS }, (answer) => {
      readAll(answer, MOST_BYTES).then(resolve, reject);
    });
    asked.once('timeout', () => asked.destroy(new Error('no metrics')));
    asked.once('error', reject);
    asked.end();
  });
  return parseHeartbeats(Buffer.from(text).toString('utf8'));
}

const SCRAPE_MS = 5_000;
const MOST_BYTES = 1_048_576;

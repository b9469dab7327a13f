/** No invariant: notes the ways in which something is sent again, so that a run in which none occurred is told from one that held. */
import { readJson } from '../machines/exchange.ts';
import type { Check } from './invariant.ts';

interface Delivered {
  readonly secret: string;
  readonly step: number;
  readonly enc: string;
}

/** Of the last delivery to a host, by world. */
const lastSent = new WeakMap<object, Map<string, Delivered>>();

const noteResends: Check = {
  onAnswered: (world, { request, host, before }, { status, body }) => {
    if (status !== 200 || host === undefined) return;
    const { deliveries } = readJson(body) as { readonly deliveries?: readonly Delivered[] };
    const sent = lastSent.get(world) ?? new Map<string, Delivered>();
    lastSent.set(world, sent);
    for (const { secret, step, enc } of deliveries ?? []) {
      const last = sent.get(`${host} ${secret}`);
      if (last?.step === step)
        world.sometimes.note(last.enc === enc ? 'a delivery was sent again' : 'a delivery was sealed again');
      sent.set(`${host} ${secret}`, { secret, step, enc });
    }
    const wasUsed = [...before.tokens.values()].some((token) => token.host === host && token.state === 'used');
    if (request.path === '/v1/enrol' && !wasUsed && request.from.endsWith('~thief'))
      world.sometimes.note('a thief enrolled first');
    if (request.path === '/v1/enrol' && wasUsed) world.sometimes.note('an enrolment was answered again');
  },
  onCommit: ({ sometimes }, before, after) => {
    for (const { host, acked_step } of after.assignments.values()) {
      if (acked_step > (before.assignments.get(host)?.acked_step ?? 0)) sometimes.note('a host proved a step');
    }
  },
};

export const resends: readonly Check[] = [noteResends];

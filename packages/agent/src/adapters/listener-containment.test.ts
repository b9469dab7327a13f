/** Containment at the listener (I1): through a whole rotation and a rolled back one, no caller with a version that is in use is ever refused. */
import { Agent, request } from 'node:https';
import type { Assignment } from '@rollcall/core/seal';
import { afterEach, expect, it } from 'vitest';
import { host } from '../fleet.fixture.ts';
import { commandBearer, tokenStep, tokenText } from '../listener/listener.fixture.ts';
import { createTestHost, type TestHost, until } from './host-listener.fixture.ts';

let at: TestHost;
const agent = new Agent({ keepAlive: true, maxSockets: 4, rejectUnauthorized: false });

afterEach(async () => {
  agent.destroy();
  await at.listener.close();
});

function status(headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: at.port(), path: '/v1/echo', agent, headers }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode ?? 0));
    })
      .once('error', reject)
      .end();
  });
}

/** Calls without a pause, with the version that is told to it, and counts what it is answered. */
function startCaller(headersOf: () => Readonly<Record<string, string>>) {
  const answers = new Map<number, number>();
  let isStopped = false;
  const done = (async () => {
    while (!isStopped) {
      const answer = await status(headersOf());
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  })();
  return {
    answers,
    stop: async () => {
      isStopped = true;
      await done;
    },
  };
}

/** The walks of design 5. A caller is told to switch when its step says so; before anybody may, all have been widened. */
const walks: readonly (readonly [name: string, steps: readonly Assignment[]])[] = [
  ['widen, roll, narrow', [tokenStep(1, [1]), tokenStep(2, [1, 2], 1), tokenStep(3, [1, 2], 2), tokenStep(4, [2])]],
  [
    'widen, roll, roll back',
    [tokenStep(1, [1]), tokenStep(2, [1, 2], 1), tokenStep(3, [1, 2], 2), tokenStep(4, [1, 2], 1), tokenStep(5, [1])],
  ],
];

it.each(walks)('%s: every caller is let in at every moment', async (_, steps) => {
  at = createTestHost([steps[0] as Assignment]);
  await at.confirm();
  let present = steps[0]?.present as number;
  const callers = [
    startCaller(() => ({ 'x-node-token': tokenText(present) })),
    startCaller(() => ({ 'x-node-token': tokenText(present), 'x-rollcall-host': 'agent-8' })),
    startCaller(() => ({ authorization: `Bearer ${commandBearer(1)}`, 'x-rollcall-host': host })),
  ];
  const progress = async () => {
    const before = callers.map(({ answers }) => answers.get(200) ?? 0);
    await until(() => callers.every(({ answers }, index) => (answers.get(200) ?? 0) > (before[index] ?? 0) + 5));
  };
  await progress();
  for (const step of steps.slice(1)) {
    // A narrowing waits for the callers (design 5, the gates): nobody has the old version under way.
    if (step.accept.length === 1) await progress();
    await at.apply(step);
    present = step.present;
    await progress();
    await until(() => at.listener.reports.take().probes?.[0]?.step === step.step);
  }
  await Promise.all(callers.map(({ stop }) => stop()));
  expect(callers.map(({ answers }) => [...answers.keys()])).toEqual([[200], [200], [200]]);
  const last = steps.at(-1) as Assignment;
  const dropped = last.present === 1 ? 2 : 1;
  // The control: what was dropped is refused by the very listener that refused nobody.
  expect(await status({ 'x-node-token': tokenText(dropped) })).toBe(401);
  expect(at.listener.reports.take().probes).toMatchObject([
    { takes: [last.present], refuses: [dropped], randomRefused: true },
  ]);
  const [api] = at.listener.reports.take().tokens ?? [];
  const counted = (api?.hits ?? []).reduce((sum, { count }) => sum + count, 0);
  const sent = callers.slice(0, 2).reduce((sum, { answers }) => sum + (answers.get(200) ?? 0), 0);
  expect(counted).toBe(sent);
});

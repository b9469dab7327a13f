/** `rollcall rotation pause`, `resume`, `leave`, `rollback` and `cut`: an operator's hand on a rotation that runs (design 5). */
import { parseMember } from '@rollcall/core/keys';
import { routes } from '@rollcall/wire';
import { formatRotation } from '../output/rotation.ts';
import { timeOption } from '../time-option.ts';
import { defineVerb, type Verb, yesOption } from '../verb.ts';
import { leaveOption, orWhatBlocks, withThief } from './rotation-answers.ts';

interface CutOptions {
  readonly until: string;
  readonly leave?: readonly string[];
  readonly yes?: boolean;
}

export const pause: Verb = defineVerb<{ readonly reason?: string }>({
  usage: 'pause [id]',
  summary: 'Switch nobody else for now; the window of the old version goes on',
  examples: ['rollcall rotation pause', "rollcall rotation pause master --reason 'deploy freeze until Monday'"],
  options: [{ flags: '--reason <text>', description: 'why, for whoever looks next' }],
  run: (context, [id], { reason }) =>
    orWhatBlocks(context, id, async () => {
      const body = { reason: reason ?? 'An operator paused it.' };
      const answer = await context.hub().call(routes.pauseRotation, { params: { id: id ?? 'master' }, body });
      return { json: answer, text: formatRotation(answer, context.view) };
    }),
});

export const resume: Verb = defineVerb({
  usage: 'resume [id]',
  summary: 'Go on with a rotation that was paused',
  examples: ['rollcall rotation resume'],
  run: (context, [id]) =>
    orWhatBlocks(context, id, async () => {
      const answer = await context.hub().call(routes.resumeRotation, { params: { id: id ?? 'master' } });
      return { json: answer, text: formatRotation(answer, context.view) };
    }),
});

export const leave: Verb = defineVerb<{ readonly reason: string }>({
  usage: 'leave <id> <host...>',
  summary: 'Go on without these hosts: what they lack is accepted, recorded, and shown for ever',
  examples: ["rollcall rotation leave master agent-9 agent-12 --reason 'gone since May'"],
  options: [{ flags: '--reason <text>', description: 'why; it stands in the audit', required: true }],
  run: (context, [id = '', ...hosts], { reason }) => {
    const body = { leave: hosts.map(parseMember), reason };
    return orWhatBlocks(context, id, async () => {
      const answer = await context.hub().call(routes.leaveRotation, { params: { id }, body });
      return { json: answer, text: formatRotation(answer, context.view) };
    });
  },
});

export const rollback: Verb = defineVerb<{ readonly reason: string; readonly yes?: boolean }>({
  usage: 'rollback <id>',
  summary: 'Go back to the old version of a shared token, callers first; from narrowing on there is no way back',
  examples: ["rollcall rotation rollback fleet-token --reason 'breaks the deploy job'"],
  options: [{ flags: '--reason <text>', description: 'why; it stands in the audit', required: true }, yesOption],
  run: async (context, [id = ''], options) => {
    await context.confirm(`Roll ${id} back to its old version? The new one is given up.`, options);
    return orWhatBlocks(context, id, async () => {
      const body = { reason: options.reason };
      const answer = await context.hub().call(routes.rollBackRotation, { params: { id }, body });
      return { json: answer, text: formatRotation(answer, context.view) };
    });
  },
});

export const cut: Verb = defineVerb<CutOptions>({
  usage: 'cut [id]',
  summary: 'End the window of the old version earlier; whoever has not come along is cut off then',
  examples: [
    'rollcall rotation cut --until 10m',
    'rollcall rotation cut master --until 2026-11-29T18:00:00Z --leave agent-9',
  ],
  options: [
    { flags: '--until <time>', description: 'when the old version stops verifying', required: true },
    leaveOption,
    yesOption,
  ],
  run: async (context, [id], options) => {
    const target = id ?? 'master';
    const leave = (options.leave ?? []).map(parseMember);
    const until = timeOption('--until', options.until, await context.hubTimeMs());
    const left = leave.length === 0 ? '' : ` Cut off are: ${leave.join(', ')}.`;
    await context.confirm(`End the old version of ${target} at ${until}? It cannot be opened again.${left}`, options);
    return orWhatBlocks(context, id, async () => {
      const body = { until, leave };
      const answer = await context.hub().call(routes.cutRotation, { params: { id: target }, body });
      return withThief(context, answer, formatRotation(answer, context.view));
    });
  },
});

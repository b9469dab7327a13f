/** `rollcall rotation`: a walk that refuses each step whose evidence is missing. */
import { parseMember, parseSecretName } from '@rollcall/core/keys';
import type { Phase } from '@rollcall/core/rotation';
import { CLOSING, closingOf, parseRung } from '@rollcall/core/rungs';
import { routes, type StartRotationAnswer, type StartRotationBody } from '@rollcall/wire';
import { type View, wrap } from '../output/page.ts';
import { formatRotation, formatRotations, walk } from '../output/rotation.ts';
import { durationOption, timeOption } from '../time-option.ts';
import { usageError } from '../usage-error.ts';
import { defineVerb, type Noun, yesOption } from '../verb.ts';
import { watchRotation } from '../watch-rotation.ts';
import { wholeNumber } from '../whole-number.ts';
import {
  aboutRotation,
  chooseRotation,
  leaveOption,
  orWhatBlocks,
  readRotation,
  withThief,
} from './rotation-answers.ts';
import { cut, leave, pause, resume, rollback } from './rotation-hold.ts';

interface StartOptions {
  readonly reason?: 'planned' | 'leak';
  readonly leave?: readonly string[];
  readonly narrowBy?: string;
  readonly auto?: string | true;
  readonly batch?: string;
}

interface WatchOptions {
  readonly timeout?: string;
  readonly until?: Phase;
}

interface RetireOptions {
  readonly now?: boolean;
  readonly leave?: readonly string[];
  readonly yes?: boolean;
}

/** A secret, or `rung:` and the rung that is to be closed. */
function parseRotated(text: string | undefined): string {
  return text?.startsWith(CLOSING) === true ? closingOf(parseRung(text.slice(CLOSING.length))) : parseSecretName(text);
}

const start = defineVerb<StartOptions>({
  usage: 'start <secret>',
  summary: 'Draw a new version and begin to roll it out',
  examples: [
    'rollcall rotation start master',
    'rollcall rotation start master --leave agent-9 agent-12',
    'rollcall rotation start master --reason leak --narrow-by 2h',
    'rollcall rotation start fleet-token --auto --batch 10',
    'rollcall rotation start rung:fleet-token   (close a rung, by evidence)',
  ],
  options: [
    { flags: '--reason <reason>', description: 'why (planned)', choices: ['planned', 'leak'] },
    leaveOption,
    { flags: '--narrow-by <time>', description: 'with --reason leak: when the old version stops verifying' },
    {
      flags: '--auto [how-far]',
      description: 'of a shared token: go on as gates open, up to narrowing; =all to the end',
      choices: ['to_narrowing', 'all'],
    },
    { flags: '--batch <n>', description: 'of a shared token: how many callers switch at a time (1)' },
  ],
  run: async (context, [name], { reason, leave, narrowBy, auto, batch }) => {
    if (narrowBy !== undefined && reason !== 'leak')
      throw usageError('--narrow-by belongs to --reason leak', 'A planned rotation keeps its window.');
    if (name === 'master' && (auto !== undefined || batch !== undefined))
      throw usageError('--auto and --batch belong to a shared token', 'The master rolls by itself. Leave them out.');
    const body: StartRotationBody = {
      secret: parseRotated(name),
      ...(reason === undefined ? {} : { reason }),
      ...(leave === undefined ? {} : { leave: leave.map(parseMember) }),
      ...(narrowBy === undefined ? {} : { narrowBy: timeOption('--narrow-by', narrowBy, await context.hubTimeMs()) }),
      ...(auto === undefined ? {} : { auto: auto === 'all' ? 'all' : 'to_narrowing' }),
      ...(batch === undefined ? {} : { batch: wholeNumber('--batch', batch, 1) }),
    };
    const status = await aboutRotation(body.secret, () => context.hub().call(routes.startRotation, { body }));
    const text = [...formatSuperseded(status, context.view), ...formatRotation(status, context.view)];
    return status.rotation.reason === 'leak' ? withThief(context, status, text) : { json: status, text };
  },
});

/** Of what was turned twice by mistake nothing else would tell. */
function formatSuperseded({ rotation, superseded }: StartRotationAnswer, view: View): string[] {
  if (superseded === undefined) return [];
  const said = `This start has ended the rotation ${superseded} of ${rotation.secret}, which still ran.`;
  return [...wrap(said, view.width).map(view.style.warn), ''];
}

const list = defineVerb({
  usage: 'list',
  summary: 'Show rotations, newest first',
  examples: ['rollcall rotation list'],
  run: async (context) => {
    const answer = await context.hub().call(routes.listRotations);
    return { json: answer, text: formatRotations(answer.rotations, context.view) };
  },
});

const status = defineVerb({
  usage: 'status [id]',
  summary: 'Show where a rotation is and what holds it up; ID may be a secret, and is the one that runs when left out',
  examples: ['rollcall rotation status', "rollcall rotation status master --json | jq '.gate.blockers'"],
  run: async (context, [id]) => {
    const answer = await readRotation(context, await chooseRotation(context, 'status', id));
    return { json: answer, text: formatRotation(answer, context.view) };
  },
});

const watch = defineVerb<WatchOptions>({
  usage: 'watch [id]',
  summary:
    'Follow a rotation, the one that runs when ID is left out, until it is done; exits 3 when it does not get there',
  examples: ['rollcall rotation watch', 'rollcall rotation watch master --until narrowing --timeout 15m'],
  options: [
    { flags: '--until <phase>', description: 'stop when it is that far (done)', choices: walk.slice(1) },
    { flags: '--timeout <duration>', description: 'give up after so long' },
  ],
  run: async (context, [id], { until, timeout }) => {
    const timeoutMs = timeout === undefined ? undefined : durationOption('--timeout', timeout);
    const chosen = await chooseRotation(context, 'watch', id);
    return watchRotation(context, { read: () => readRotation(context, chosen), until: until ?? 'done', timeoutMs });
  },
});

const advance = defineVerb<{ readonly from?: Phase }>({
  usage: 'advance [id]',
  summary: 'Go on to the next phase, if its gate is open; exits 3 with what is missing when it is not',
  examples: ['rollcall rotation advance', 'rollcall rotation advance fleet-token --from rolling'],
  options: [
    {
      flags: '--from <phase>',
      description: 'only if it is in this phase still: of two who advance, one is told',
      choices: walk.slice(0, -1),
    },
  ],
  run: async (context, [id], { from }) => {
    const body = from === undefined ? {} : { from };
    return orWhatBlocks(context, id, async () => {
      const answer = await context.hub().call(routes.advanceRotation, { params: { id: id ?? 'master' }, body });
      return { json: answer, text: formatRotation(answer, context.view) };
    });
  },
});

const retire = defineVerb<RetireOptions>({
  usage: 'retire [id]',
  summary: 'Destroy the old version for good; exits 3 with what blocks it',
  examples: ['rollcall rotation retire', 'rollcall rotation retire master --now --leave agent-9 --yes'],
  options: [
    { flags: '--now', description: 'also while its window is open, if nobody would be stranded' },
    leaveOption,
    yesOption,
  ],
  run: async (context, [id], options) => {
    const { now = false, leave = [] } = options;
    const body = { now, leave: leave.map(parseMember) };
    const target = id ?? 'master';
    const effect = now ? 'Whoever still presents it is cut off.' : 'Its value is destroyed.';
    await context.confirm(`Retire the old version of ${target}? ${effect}`, options);
    return orWhatBlocks(context, id, async () => {
      const answer = await context.hub().call(routes.retireRotation, { params: { id: target }, body });
      return {
        json: answer,
        text: [
          `Version ${answer.rotation.from} of ${answer.rotation.secret} is retired.`,
          ...formatRotation(answer, context.view),
        ],
      };
    });
  },
});

export const rotationNoun: Noun = {
  name: 'rotation',
  summary: 'Rotate a secret so that nobody notices',
  verbs: [start, list, status, watch, advance, pause, resume, leave, rollback, cut, retire],
};

/** `rollcall pin`: which wrap key belongs to which host, and who said so. */
import { parseHostId } from '@rollcall/core/keys';
import { type PinChangeAnswer, routes } from '@rollcall/wire';
import { formatAccepted, formatExposure } from '../output/first-use.ts';
import { type View, wrap } from '../output/page.ts';
import { formatPendingPins, formatPin } from '../output/pins.ts';
import { timeOption } from '../time-option.ts';
import { usageError } from '../usage-error.ts';
import { type Context, defineVerb, type Noun, yesOption } from '../verb.ts';

interface FingerprintOptions {
  readonly fingerprint: string;
  readonly yes?: boolean;
}

interface FirstUseOptions {
  readonly until?: string;
  readonly exposed?: string;
}

const fingerprintOption = {
  flags: '--fingerprint <full>',
  description: 'all 64 digits, as `rollcall agent status` prints them on the host',
  required: true,
};
const EXAMPLE_FINGERPRINT = '3f9a…(64 digits)';

const list = defineVerb({
  usage: 'list',
  summary: 'Show pending changes of pins, with what the hub saw',
  examples: ['rollcall pin list'],
  run: async (context) => {
    const answer = await context.hub().call(routes.listPins);
    return { json: answer, text: formatPendingPins(answer, context.view) };
  },
});

const show = defineVerb({
  usage: 'show <host>',
  summary: 'Show the pin of a host, and what is pending against it',
  examples: ['rollcall pin show agent-7'],
  run: async (context, [id]) => {
    const answer = await context.hub().call(routes.showPin, { params: { host: parseHostId(id) } });
    return { json: answer, text: formatPin(answer, context.view) };
  },
});

const exposure = defineVerb({
  usage: 'exposure',
  summary: 'Show for which hosts first use would need no race from a thief, and why',
  examples: ['rollcall pin exposure'],
  run: async (context) => {
    const answer = await context.hub().call(routes.exposure);
    return { json: answer, text: formatExposure(answer, context.view) };
  },
});

const acceptFirstUse = defineVerb<FirstUseOptions>({
  usage: 'accept-first-use <on|off>',
  summary: 'Take the one key that each eligible host publishes now, for a time',
  examples: ['rollcall pin accept-first-use on --until 24h --exposed 3', 'rollcall pin accept-first-use off'],
  options: [
    { flags: '--until <time>', description: 'when it ends by itself (with on)' },
    { flags: '--exposed <n>', description: 'how many exposed hosts you read in `rollcall pin exposure` (with on)' },
  ],
  run: async (context, [mode], options) => {
    const body = firstUseBody(mode, options, mode === 'on' ? await context.hubTimeMs() : context.view.nowMs);
    const answer = await context.hub().call(routes.acceptFirstUse, { body });
    return { json: answer, text: formatAccepted(answer, context.view) };
  },
});

const approve = defineVerb<FingerprintOptions>({
  usage: 'approve <host>',
  summary: 'Replace the pin of a host by a key that you read on the host itself',
  examples: [`rollcall pin approve agent-7 --fingerprint ${EXAMPLE_FINGERPRINT}`],
  options: [fingerprintOption, yesOption],
  run: async (context, [id], options) => {
    const host = parseHostId(id);
    const fingerprint = wholeFingerprint(options.fingerprint);
    await context.confirm(`Approve this key for ${host}? The pin that it has now is dropped.`, options);
    const answer = await context.hub().call(routes.approvePin, { params: { host }, body: { fingerprint } });
    return { json: answer, text: formatApproved(answer, context.view) };
  },
});

const confirm = defineVerb<FingerprintOptions>({
  usage: 'confirm <host>',
  summary: 'Confirm a pin that was taken on first use, by what the host itself shows',
  examples: [`rollcall pin confirm agent-7 --fingerprint ${EXAMPLE_FINGERPRINT}`],
  options: [fingerprintOption],
  run: async (context, [id], options) => {
    const host = parseHostId(id);
    const answer = await withFingerprint(context, routes.confirmPin, host, options);
    return {
      json: answer,
      text: [`The pin of ${host} is confirmed: its anchor is ${answer.pin?.anchor ?? 'unknown'} now.`],
    };
  },
});

const reject = defineVerb<FingerprintOptions>({
  usage: 'reject <host>',
  summary: 'Drop a pending change; the pin stays as it is',
  examples: [`rollcall pin reject agent-7 --fingerprint ${EXAMPLE_FINGERPRINT}`],
  options: [fingerprintOption],
  run: async (context, [id], options) => {
    const host = parseHostId(id);
    const answer = await withFingerprint(context, routes.rejectPin, host, options);
    return { json: answer, text: [`The change is dropped; the pin of ${host} is what it was.`] };
  },
});

export const pinNoun: Noun = {
  name: 'pin',
  summary: 'The wrap key of each host, and who vouched for it',
  verbs: [list, show, exposure, acceptFirstUse, approve, confirm, reject],
};

function withFingerprint(
  context: Context,
  route: typeof routes.confirmPin,
  host: string,
  options: FingerprintOptions,
): Promise<PinChangeAnswer> {
  return context.hub().call(route, { params: { host }, body: { fingerprint: wholeFingerprint(options.fingerprint) } });
}

/** Checked here too, so that a person learns of a digit lost in copying before the hub sees anything. */
function wholeFingerprint(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  const reason = /^[0-9A-Fa-f]{64}$/.test(text)
    ? 'the fingerprint has capitals in it'
    : `a fingerprint has 64 digits of 0-9 a-f, and this has ${[...text].length} characters`;
  throw usageError(reason, 'Copy it whole from `rollcall agent status` on the host.');
}

function firstUseBody(
  mode: string | undefined,
  { until, exposed }: FirstUseOptions,
  nowMs: number,
): { on: false } | { on: true; until: string; exposed: number } {
  if (mode === 'off') {
    if (until !== undefined || exposed !== undefined)
      throw usageError('--until and --exposed belong to on', 'rollcall pin accept-first-use off');
    return { on: false };
  }
  if (mode !== 'on') throw usageError('say on or off', 'rollcall pin accept-first-use on --until 24h --exposed N');
  if (until === undefined || exposed === undefined)
    throw usageError('on needs --until TIME and --exposed N', 'Read N in `rollcall pin exposure`.');
  if (!/^\d{1,9}$/.test(exposed))
    throw usageError('--exposed takes a whole number', 'Read it in `rollcall pin exposure`.');
  return { on: true, until: timeOption('--until', until, nowMs), exposed: Number(exposed) };
}

function formatApproved(answer: PinChangeAnswer, view: View): string[] {
  return answer.effect === 'taken'
    ? [
        `${answer.host} has its new pin, life ${answer.life}.`,
        'What belongs to its former life counts for nothing any more.',
      ]
    : wrap(
        `Approved for ${answer.host}: it becomes the pin when the host publishes it. Until then the old pin stays.`,
        view.width,
      );
}

/** `rollcall rung`: which kinds of credential are accepted, of whom and why, and who stands where. */
import { parseHostId } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { parseRung } from '@rollcall/core/rungs';
import { type DecideRungBody, type RungRow, routes } from '@rollcall/wire';
import { wrap } from '../output/page.ts';
import { formatRungs } from '../output/rungs.ts';
import { usageError } from '../usage-error.ts';
import { type Context, defineVerb, type Noun, type Result } from '../verb.ts';

interface DecideOptions {
  readonly host?: string;
  readonly reason: string;
}

const hostOption = { flags: '--host <host>', description: 'of this host alone; what holds for the fleet stays' };
const reasonOption = {
  flags: '--reason <text>',
  description: `a sentence for whoever asks later, at most ${limits.rungReasonCharacters} characters`,
  required: true,
};
const RUNG = '<rung>';

const list = defineVerb({
  usage: 'list',
  summary: 'Show which rungs are accepted, why, and how many hosts stand on each',
  examples: ['rollcall rung list'],
  run: async (context) => {
    const answer = await context.hub().call(routes.listRungs);
    return { json: answer, text: formatRungs(answer, context.view) };
  },
});

const accept = defineVerb<DecideOptions>({
  usage: `accept ${RUNG}`,
  summary: 'Let hosts in that stand on a rung',
  examples: [
    'rollcall rung accept fleet-token --reason "the printers have nothing else"',
    'rollcall rung accept fleet-token --host printer-1 --reason "replaced in May"',
  ],
  options: [hostOption, reasonOption],
  run: (context, [rung], options) => decide(context, rung, { isAccepted: true, ...bodyOf(options) }),
});

const refuse = defineVerb<DecideOptions & { readonly leave?: readonly string[] }>({
  usage: `refuse ${RUNG}`,
  summary: 'Refuse whoever stands on a rung, at once; by evidence: `rotation start rung:RUNG`',
  examples: [
    'rollcall rung refuse fleet-token --host web-1 --reason "it has climbed"',
    'rollcall rung refuse fleet-token --reason "it is public" --leave old-1',
  ],
  options: [
    hostOption,
    reasonOption,
    { flags: '--leave <host...>', description: 'hosts that nothing else lets in, to go on without' },
  ],
  run: (context, [rung], { leave, ...options }) => {
    if (options.host !== undefined && leave !== undefined)
      throw usageError('--host names the host already', 'Leave out --leave.');
    const left = leave === undefined ? {} : { leave: leave.map((id) => parseHostId(id)) };
    return decide(context, rung, { isAccepted: false, ...bodyOf(options), ...left });
  },
});

const clear = defineVerb<{ readonly host: string; readonly reason: string }>({
  usage: `clear ${RUNG}`,
  summary: 'Let what holds for the fleet hold for a host again',
  examples: ['rollcall rung clear fleet-token --host printer-1 --reason "it was replaced"'],
  options: [{ ...hostOption, required: true }, reasonOption],
  run: async (context, [text], { host, reason }) => {
    const body = { host: parseHostId(host), reason: reasonOf(reason) };
    const answer = await context.hub().call(routes.clearRung, { params: { name: parseRung(text) }, body });
    return decided(context, answer, body.host);
  },
});

export const rungNoun: Noun = {
  name: 'rung',
  summary: 'Kinds of credential: which are accepted, and who stands where',
  verbs: [list, accept, refuse, clear],
};

async function decide(context: Context, text: string | undefined, body: DecideRungBody): Promise<Result> {
  const answer = await context.hub().call(routes.decideRung, { params: { name: parseRung(text) }, body });
  return decided(context, answer, body.host);
}

function decided({ view }: Context, answer: RungRow, host: string | undefined): Result {
  const whose = host === undefined ? 'the fleet' : host;
  const text = `${answer.rung} is ${answer.accepted === true ? 'accepted' : 'refused'} of ${whose} now: ${answer.reason}`;
  return { json: answer, text: wrap(text, view.width) };
}

function bodyOf({ host, reason }: DecideOptions): { readonly reason: string; readonly host?: string } {
  return { reason: reasonOf(reason), ...(host === undefined ? {} : { host: parseHostId(host) }) };
}

function reasonOf(text: string): string {
  if (text.trim() === '' || text.length > limits.rungReasonCharacters)
    throw usageError(`the reason has 1 to ${limits.rungReasonCharacters} characters`);
  return text;
}

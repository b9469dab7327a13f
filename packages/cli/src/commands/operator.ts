/** `rollcall operator`: people and programs that reach the hub over TCP, each with a role and a token (design 8). */
import { type OperatorRole, type OperatorToken, operatorRoles, routes } from '@rollcall/wire';
import { formatAge } from '../output/age.ts';
import { type View, wrap } from '../output/page.ts';
import { formatTable } from '../output/table.ts';
import { usageError } from '../usage-error.ts';
import { defineVerb, type Noun, yesOption } from '../verb.ts';

const add = defineVerb<{ readonly role: OperatorRole }>({
  usage: 'add <name>',
  summary: 'Add an operator, and print its token once',
  examples: ['rollcall operator add ada --role admin', 'rollcall operator add ci --role viewer'],
  options: [
    {
      flags: '--role <role>',
      description: 'viewer looks; operator also acts on hosts, pins and rotations; admin also on operators and secrets',
      choices: operatorRoles,
      required: true,
    },
  ],
  run: async (context, [name], { role }) => {
    const answer = await context.hub().call(routes.addOperator, { body: { name: operatorName(name), role } });
    return { json: answer, text: formatToken(`is an operator with the role ${answer.role}`, answer, context.view) };
  },
});

const list = defineVerb({
  usage: 'list',
  summary: 'Show operators and their roles',
  examples: ['rollcall operator list'],
  run: async (context) => {
    const answer = await context.hub().call(routes.listOperators);
    const rows = answer.operators.map(({ name, role, addedAt }) => ({
      cells: [name, role, formatAge(addedAt, context.view.nowMs)],
    }));
    const columns = [{ title: 'NAME', elastic: 20 }, { title: 'ROLE' }, { title: 'ADDED' }];
    const none = ['Nobody reaches the hub over TCP. Add the first:', '  rollcall operator add NAME --role admin'];
    return { json: answer, text: rows.length === 0 ? none : formatTable(columns, rows, context.view.width) };
  },
});

const remove = defineVerb<{ readonly yes?: boolean }>({
  usage: 'remove <name>',
  summary: 'End an operator: its token is dead at once',
  examples: ['rollcall operator remove ada', 'rollcall operator remove ada --yes'],
  options: [yesOption],
  run: async (context, [text], options) => {
    const name = operatorName(text);
    await context.confirm(`Remove the operator ${name}? Its token is dead at once.`, options);
    const answer = await context.hub().call(routes.removeOperator, { params: { name } });
    return { json: answer, text: [`${name} is no operator any more.`] };
  },
});

const rotateToken = defineVerb({
  usage: 'rotate-token <name>',
  summary: 'Replace an operator’s token, and print the new one once; the old one is dead at once',
  examples: ['rollcall operator rotate-token ada'],
  run: async (context, [name]) => {
    const answer = await context.hub().call(routes.rotateOperatorToken, { params: { name: operatorName(name) } });
    return { json: answer, text: formatToken('has another token; the one before is dead', answer, context.view) };
  },
});

export const operatorNoun: Noun = {
  name: 'operator',
  summary: 'Who reaches the hub over TCP, and what each may do',
  verbs: [add, list, remove, rotateToken],
};

function operatorName(text: string | undefined): string {
  if (text !== undefined && /^[a-z0-9-]{1,64}$/.test(text)) return text;
  throw usageError('the name of an operator has 1 to 64 characters of a-z 0-9 -');
}

function formatToken(what: string, answer: OperatorToken, view: View): string[] {
  return [
    `${view.style.bold(answer.name)} ${what}.`,
    'Its token, shown this once:',
    '',
    answer.token,
    '',
    ...wrap(
      'In a file of mode 0600, with the hub-root file that `rollcall hub status` prints, on a machine that reaches the hub:',
      view.width,
    ),
    '  rollcall --hub https://HUB:PORT --token-file FILE \\',
    '    --hub-root-file hub-root.json host list',
  ];
}

/** `rollcall secret`: values go in, and never come out (I12). */
import { encodeBase64url } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { parseMasterFile, parsePurpose, parseSecretName } from '@rollcall/core/keys';
import { type CreateSecretBody, routes, type SecretRow } from '@rollcall/wire';
import { readSecretFile } from '../input-file.ts';
import { formatAge, formatInstant } from '../output/age.ts';
import { countOf, formatFields, type View } from '../output/page.ts';
import { printable } from '../output/printable.ts';
import { type Cell, formatTable } from '../output/table.ts';
import { usageError } from '../usage-error.ts';
import { type Context, defineVerb, type Noun } from '../verb.ts';

interface ImportOptions {
  readonly file: string;
  readonly scheme?: 'hkdf' | 'hmac-sha256';
  readonly info?: readonly string[];
}

const create = defineVerb({
  usage: 'create <name>',
  summary: 'Make a secret: the hub draws its first version, and nobody sees it',
  examples: ['rollcall secret create master'],
  run: async (context, [name]) => {
    const secret = await context.hub().call(routes.createSecret, { body: { name: masterOnly(name) } });
    return { json: secret, text: created('made', secret) };
  },
});

const importSecret = defineVerb<ImportOptions>({
  usage: 'import <name>',
  summary: 'Take over a secret that a fleet has already, from a file or standard input',
  examples: [
    'rollcall secret import master --file /root/fleet-secret',
    'rollcall secret import master --file - < /root/fleet-secret',
    'rollcall secret import master --file /root/fleet-secret --scheme hmac-sha256 \\',
    '    --info heartbeat=node-heartbeat --info command=node-command',
  ],
  options: [
    { flags: '--file <file>', description: 'where the value is; - for standard input', required: true },
    {
      flags: '--scheme <scheme>',
      description: 'how the hosts derive their keys from it',
      choices: ['hkdf', 'hmac-sha256'],
    },
    { flags: '--info <purpose=text...>', description: 'the text of each purpose, for hmac-sha256' },
  ],
  run: async (context, [name], options) => {
    const secretName = masterOnly(name);
    const scheme = parseScheme(options);
    const master = parseMasterFile(await readSecretFile(context, options.file));
    const secret = await context.hub().call(routes.createSecret, {
      body: { name: secretName, value: encodeBase64url(master.reveal()), ...(scheme === undefined ? {} : { scheme }) },
    });
    return { json: secret, text: created('imported', secret) };
  },
});

const list = defineVerb({
  usage: 'list',
  summary: 'Show secrets and their versions, without values',
  examples: ['rollcall secret list'],
  run: async (context) => {
    const answer = await context.hub().call(routes.listSecrets);
    return { json: answer, text: formatSecrets(answer.secrets, context.view) };
  },
});

const show = defineVerb({
  usage: 'show <name>',
  summary: 'Show what is known of a secret; its value is never shown',
  examples: ['rollcall secret show master'],
  run: async (context, [name]) => {
    const secret = await readSecret(context, name);
    return { json: secret, text: formatSecret(secret, context.view) };
  },
});

const versions = defineVerb({
  usage: 'versions <name>',
  summary: 'Show the versions of a secret by number',
  examples: ['rollcall secret versions master', "rollcall secret versions master --json | jq '.versions[-1].version'"],
  run: async (context, [name]) => {
    const secret = await readSecret(context, name);
    return { json: { versions: secret.versions }, text: formatSecrets([secret], context.view) };
  },
});

export const secretNoun: Noun = {
  name: 'secret',
  summary: 'The named values that Rollcall rotates',
  verbs: [create, importSecret, list, show, versions],
};

async function readSecret(context: Context, text: string | undefined): Promise<SecretRow> {
  const name = parseSecretName(text);
  const { secrets } = await context.hub().call(routes.listSecrets);
  const secret = secrets.find((candidate) => candidate.name === name);
  if (secret === undefined) throw new RollcallError('secret_unknown', { name });
  return secret;
}

/** The engine takes any name; in this release the master alone is driven by it. */
function masterOnly(name: string | undefined): string {
  const parsed = parseSecretName(name);
  if (parsed !== 'master')
    throw usageError('only the secret named master exists in this release', 'rollcall secret create master');
  return parsed;
}

function parseScheme(options: ImportOptions): CreateSecretBody['scheme'] {
  if (options.scheme !== 'hmac-sha256') {
    if (options.info !== undefined)
      throw usageError('--info belongs to --scheme hmac-sha256', 'Add the scheme, or leave out --info.');
    return options.scheme === undefined ? undefined : { name: 'hkdf' };
  }
  const info: Record<string, string> = {};
  for (const entry of options.info ?? []) {
    const at = entry.indexOf('=');
    const purpose = parsePurpose(at > 0 ? entry.slice(0, at) : '');
    if (Object.hasOwn(info, purpose)) throw usageError(`--info ${purpose} is given twice`);
    info[purpose] = entry.slice(at + 1);
  }
  if (Object.keys(info).length === 0)
    throw usageError(
      'hmac-sha256 needs the texts of the fleet',
      'Add --info heartbeat=TEXT and one for each purpose in use.',
    );
  // Two purposes under one text would be one key (design 3).
  if (new Set(Object.values(info)).size < Object.keys(info).length)
    throw usageError('two purposes have the same --info text');
  return { name: 'hmac-sha256', info };
}

function created(done: string, secret: SecretRow): string[] {
  const version = secret.versions.at(-1);
  return [`${secret.name} is ${done}: version ${version?.version ?? 1}, scheme ${version?.scheme ?? 'unknown'}.`];
}

function formatSecret(secret: SecretRow, view: View): string[] {
  const current = secret.versions.find(({ state }) => state === 'current');
  const previous = secret.versions.find(({ state }) => state === 'previous');
  const destroyed = secret.versions.filter(({ state }) => state === 'destroyed').length;
  const fields: [string, Cell][] = [
    ['current', current === undefined ? 'none' : `version ${current.version}, scheme ${current.scheme}`],
    ['made', formatInstant(current?.createdAt ?? null, view.nowMs)],
    [
      'previous',
      previous === undefined
        ? 'none'
        : `version ${previous.version}, verifies until ${formatInstant(previous.verifyUntil, view.nowMs)}`,
    ],
    ['destroyed', countOf(destroyed, 'version')],
  ];
  return [view.style.bold(printable(secret.name)), ...formatFields(fields, view)];
}

function formatSecrets(secrets: readonly SecretRow[], view: View): string[] {
  if (secrets.length === 0) return ['There is no secret yet. Make or import the first: rollcall secret create master'];
  const rows = secrets.flatMap(({ name, versions }) =>
    versions.map((row) => ({
      cells: [
        name,
        String(row.version),
        row.scheme,
        row.state === 'current' ? { text: row.state, paint: view.style.good } : row.state,
        formatAge(row.createdAt, view.nowMs),
        row.verifyUntil === null || row.state === 'destroyed' ? '-' : formatInstant(row.verifyUntil, view.nowMs),
      ],
    })),
  );
  const columns = [
    { title: 'SECRET', elastic: 10 },
    { title: 'VERSION', align: 'right' as const },
    { title: 'SCHEME', elastic: 8 },
    { title: 'STATE' },
    { title: 'MADE' },
    { title: 'VERIFIES UNTIL' },
  ];
  return formatTable(columns, rows, view.width);
}

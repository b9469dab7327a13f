/** `rollcall secret`: values go in, and never come out (I12). */
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { parseMasterFile, parseMember, parsePurpose, parseSecretName, parseTokenFile } from '@rollcall/core/keys';
import { type CreateSecretBody, type HoldersBody, routes, type SecretRow } from '@rollcall/wire';
import { readSecretFile } from '../input-file.ts';
import { formatAge, formatInstant } from '../output/age.ts';
import { countOf, formatFields, type View } from '../output/page.ts';
import { printable } from '../output/printable.ts';
import { type Cell, formatTable } from '../output/table.ts';
import { usageError } from '../usage-error.ts';
import { type Context, defineVerb, type Noun, type Result } from '../verb.ts';
import { aboutRotation } from './rotation-answers.ts';

interface HoldersOptions {
  readonly holders?: readonly string[];
}

interface ImportOptions extends HoldersOptions {
  readonly weak?: boolean;
  readonly file: string;
  readonly scheme?: 'hkdf' | 'hmac-sha256';
  readonly info?: readonly string[];
}

const holdersOption = {
  flags: '--holders <member...>',
  description: 'of a shared token: host ids, all, or caller:NAME for one that is no host',
};

const create = defineVerb<HoldersOptions>({
  usage: 'create <name>',
  summary: 'Make a secret: the hub draws its first version, and nobody sees it',
  examples: ['rollcall secret create master', 'rollcall secret create fleet-token --holders all caller:deploy'],
  options: [holdersOption],
  run: async (context, [name], { holders }) => {
    const body = { name: parseSecretName(name), ...readHolders(name, holders) };
    const secret = await naming(() => context.hub().call(routes.createSecret, { body }));
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
    'rollcall secret import fleet-token --file /etc/fleet/token --holders all',
  ],
  options: [
    { flags: '--file <file>', description: 'where the value is; - for standard input', required: true },
    {
      flags: '--scheme <scheme>',
      description: 'how the hosts derive their keys from it',
      choices: ['hkdf', 'hmac-sha256'],
    },
    { flags: '--info <purpose=text...>', description: 'the text of each purpose, for hmac-sha256' },
    holdersOption,
    { flags: '--weak', description: 'of a shared token: take a value below 22 characters, which can be guessed' },
  ],
  run: async (context, [name], options) => {
    const body = await readImport(context, parseSecretName(name), options);
    const secret = await naming(() => context.hub().call(routes.createSecret, { body }));
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

const hold = defineVerb({
  usage: 'hold <name> <member...>',
  summary: 'Say who else holds a shared token; a host gets it with its next heartbeat',
  examples: ['rollcall secret hold fleet-token agent-7', 'rollcall secret hold fleet-token caller:nightly-backup'],
  run: (context, [name, ...members]) => changeHolders(context, name, { add: members.map(parseMember) }),
});

const release = defineVerb({
  usage: 'release <name> <member...>',
  summary: 'Say who does not hold a shared token any more; a host drops it with its next heartbeat',
  examples: ['rollcall secret release fleet-token agent-7'],
  run: (context, [name, ...members]) => changeHolders(context, name, { remove: members.map(parseMember) }),
});

export const secretNoun: Noun = {
  name: 'secret',
  summary: 'The named values that Rollcall rotates',
  verbs: [create, importSecret, list, show, versions, hold, release],
};

function readSecret(context: Context, text: string | undefined): Promise<SecretRow> {
  return context.hub().call(routes.showSecret, { params: { name: parseSecretName(text) } });
}

async function changeHolders(context: Context, name: string | undefined, body: HoldersBody): Promise<Result> {
  const secretName = parseSecretName(name);
  if (secretName === 'master') throw noHoldersOfMaster('hold and release belong');
  const secret = await aboutRotation(secretName, () =>
    naming(() => context.hub().call(routes.changeHolders, { params: { name: secretName }, body })),
  );
  return { json: secret, text: formatSecret(secret, context.view) };
}

/** Of the master the bytes as they are; of a shared token its text. */
async function readImport(context: Context, name: string, options: ImportOptions): Promise<CreateSecretBody> {
  const scheme = parseScheme(options);
  const { holders, weak } = options;
  if (name !== 'master') {
    if (scheme !== undefined) throw usageError('--scheme belongs to the master', 'A shared token is taken as it is.');
    const text = parseTokenFile(await readSecretFile(context, options.file));
    const value = encodeBase64url(utf8(text));
    return { name, value, ...readHolders(name, holders), ...(weak === true ? { weak } : {}) };
  }
  if (weak === true) throw usageError('--weak belongs to a shared token', 'A master has at least 32 bytes.');
  const noHolders = readHolders(name, holders);
  const master = parseMasterFile(await readSecretFile(context, options.file));
  const value = encodeBase64url(master.reveal());
  return { name, value, ...noHolders, ...(scheme === undefined ? {} : { scheme }) };
}

function readHolders(
  name: string | undefined,
  holders: readonly string[] | undefined,
): Pick<CreateSecretBody, 'holders'> {
  if (holders === undefined) return {};
  if (name === 'master') throw noHoldersOfMaster('--holders belongs');
  return { holders: holders.map(parseMember) };
}

function noHoldersOfMaster(what: string): Error {
  return usageError(`${what} to a shared token`, 'Every host holds its keys of the master.');
}

/** Whoever types the name of a deploy job meant a caller that is no host. */
async function naming<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isRollcallError(error, 'host_unknown')) throw error;
    const hint = 'See `rollcall host list`. A caller that is no host is named caller:NAME.';
    throw new RollcallError('host_unknown', { ...error.details, hint }, { cause: error.cause });
  }
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

function created(done: string, { name, versions, holders }: SecretRow): string[] {
  const version = versions.at(-1);
  const made = `${name} is ${done}: version ${version?.version ?? 1}, scheme ${version?.scheme ?? 'unknown'}.`;
  return holders?.length === 0 ? [made, `Nobody holds it yet: rollcall secret hold ${name} all`] : [made];
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
        : previous.verifyUntil === null && secret.holders !== undefined
          ? `version ${previous.version}, verifies while it is rotated`
          : `version ${previous.version}, verifies until ${formatInstant(previous.verifyUntil, view.nowMs)}`,
    ],
    ['destroyed', countOf(destroyed, 'version')],
    ...(secret.holders === undefined ? [] : [['held by', secret.holders.join(', ') || 'nobody'] as [string, Cell]]),
    ...(secret.weak === true
      ? [['weak', { text: 'short enough to be guessed', paint: view.style.warn }] as [string, Cell]]
      : []),
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

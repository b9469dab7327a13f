/** `rollcall hub`: make a hub, run it, ask how it is. */
import { resolve } from 'node:path';
import { type HubStatusAnswer, routes } from '@rollcall/wire';
import { type HubPackage, loadHub } from '../optional-package.ts';
import { formatClock, formatInstant } from '../output/age.ts';
import { formatFields, type View, wrap } from '../output/page.ts';
import { formatReadiness } from '../output/readiness.ts';
import { formatTable } from '../output/table.ts';
import { defineVerb, type Noun, yesOption } from '../verb.ts';
import { start } from './hub-start.ts';

interface InitOptions {
  readonly dir: string;
  readonly listen?: string;
  readonly trustDomain?: string;
  readonly kekFile?: string;
}

interface WhereOptions {
  readonly dir?: string;
}

const whereOption = {
  flags: '--dir <dir>',
  description: 'data directory of the hub: short for --hub unix:DIR/operator.sock',
};

const init = defineVerb<InitOptions>({
  usage: 'init',
  summary: 'Make a new hub: its database, keys and certificate authority',
  examples: [
    'rollcall hub init --dir /var/lib/rollcall --listen 10.0.0.5:7443',
    'rollcall hub init --dir ./hub --trust-domain fleet.example.org',
  ],
  options: [
    { flags: '--dir <dir>', description: 'where it lives; must be new or empty', required: true },
    { flags: '--listen <host:port>', description: 'address under which the hosts reach it (127.0.0.1:7443)' },
    { flags: '--trust-domain <name>', description: 'SPIFFE trust domain of the fleet (rollcall.internal)' },
    { flags: '--kek-file <file>', description: 'where to put the key-encryption key; outside of DIR is better' },
  ],
  run: async (context, _args, { dir, listen, trustDomain, kekFile }) => {
    const hub = await loadHub(context.io);
    const made = await hub.initHub({ dir: resolve(dir), listen, trustDomain, kekFile });
    return { json: made, text: formatMade(made, context.view) };
  },
});

const status = defineVerb<WhereOptions>({
  usage: 'status',
  summary: 'Show what the hub says about itself, and the hub-root file',
  examples: ['rollcall hub status', 'rollcall hub status --json | jq .hubRoot > hub-root.json'],
  options: [whereOption],
  run: async (context, _args, { dir }) => {
    const answer = await context.hub({ dir }).call(routes.hubStatus);
    return { json: answer, text: formatStatus(answer, context.view) };
  },
});

const readiness = defineVerb<WhereOptions>({
  usage: 'readiness',
  summary: 'Ask whether the fleet is ready for a rotation: exits 3 when it is not, and says why',
  examples: ['rollcall hub readiness', "rollcall hub readiness --json | jq '.safeToRetire.master'"],
  options: [whereOption],
  run: async (context, _args, { dir }) => {
    const answer = await context.hub({ dir }).call(routes.readiness);
    return { json: answer, text: formatReadiness(answer, context.view), exit: answer.ready ? 0 : 3 };
  },
});

const acceptTime = defineVerb<WhereOptions & { readonly yes?: boolean }>({
  usage: 'accept-time',
  summary: 'Say that the clock of the hub is right again, after it jumped',
  examples: ['rollcall hub accept-time', 'rollcall hub accept-time --yes'],
  options: [whereOption, yesOption],
  run: async (context, _args, { dir, yes }) => {
    const question = 'Is the wall clock of the hub right now? All tokens, first use and late windows close.';
    await context.confirm(question, yes === undefined ? {} : { yes });
    const answer = await context.hub({ dir }).call(routes.acceptTime);
    const closed = [
      ...(answer.generation === null ? [] : [`version ${answer.generation} of master verifies no more`]),
      ...(answer.hosts.length === 0 ? [] : [`tokens, first use or former lives of: ${answer.hosts.join(', ')}`]),
    ];
    return {
      json: answer,
      text: [
        `The hub’s time is ${formatClock(answer.after)}; it was ${formatClock(answer.before)}.`,
        ...closed.flatMap((what) => wrap(`Closed: ${what}.`, context.view.width)),
      ],
    };
  },
});

export const hubNoun: Noun = {
  name: 'hub',
  summary: 'The control plane’s server',
  verbs: [init, start, status, readiness, acceptTime],
};

type Made = Awaited<ReturnType<HubPackage['initHub']>>;

function formatMade(made: Made, view: View): string[] {
  return [
    view.style.bold('A new hub is made.'),
    '',
    ...formatFields(
      [
        ['data', made.dir],
        ['for hosts', made.listen],
        ['operators', `unix:${made.operatorSocket}`],
        ['key file', made.kekFile],
        ['hub root', made.hubRootFile],
        ['offline', made.offlineKeyFile],
      ],
      view,
    ),
    '',
    view.style.warn('The offline key file must leave this machine now.'),
    ...wrap(
      'It is the private hub root. Whoever has it can appoint a hub that every host obeys. The running hub does not need it, only the next rotation of the hub key does. Copy it to storage that is not connected, twice, check a copy, and delete it here:',
      view.width,
    ),
    `  sha256sum ${made.offlineKeyFile}`,
    `  shred -u ${made.offlineKeyFile}`,
    '',
    ...wrap(
      'The key file (the key-encryption key) is needed at every start and is not in any backup of the data. Without it the data cannot be read; with both, a thief is the fleet. Keep a copy, and keep it apart from the data.',
      view.width,
    ),
    '',
    ...wrap(
      'Hosts of an older fleet read the hub root from a file (--hub-root-file), never from the network. New hosts get it in their enrolment token. The file holds:',
      view.width,
    ),
    ...JSON.stringify(made.hubRoot, undefined, 2).split('\n'),
    '',
    'Next:',
    `  rollcall hub start --dir ${made.dir} --kek-file ${made.kekFile}`,
    `  export ROLLCALL_HUB=unix:${made.operatorSocket}`,
    '  rollcall secret create master',
    '  rollcall host add agent-1',
  ];
}

function formatStatus(answer: HubStatusAnswer, view: View): string[] {
  const { style } = view;
  const checks = answer.checks.map((check) => ({
    cells: [
      check.ok ? { text: 'ok', paint: style.good } : { text: 'FAILS', paint: style.bad },
      check.name,
      check.detail,
    ],
  }));
  return [
    ...formatFields(
      [
        ['version', answer.version],
        ['started', formatInstant(answer.startedAt, view.nowMs)],
        ['time', formatClock(answer.time)],
        ['for hosts', answer.fleetAddress],
        ['metrics', answer.metricsAddress],
        ['operators', answer.operatorsAddress ?? 'over the socket alone'],
        ['trust', answer.hubRoot.trustDomain],
        ['hub key', `serial ${answer.hubKey.serial}`],
        ['', answer.hubKey.kid],
      ],
      view,
      0,
    ),
    '',
    ...formatTable(
      [{ title: 'CHECK' }, { title: 'NAME', elastic: 12 }, { title: 'DETAIL', elastic: 20 }],
      checks,
      view.width,
    ),
    '',
    'Hub-root file, for hosts of an older fleet:',
    ...JSON.stringify(answer.hubRoot, undefined, 2).split('\n'),
  ];
}

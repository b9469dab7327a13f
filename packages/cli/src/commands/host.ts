/** `rollcall host`: the roll. */
import { parseHostId } from '@rollcall/core/keys';
import { type AddHostAnswer, type AddHostBody, type HostChangeAnswer, routes } from '@rollcall/wire';
import { formatInstant } from '../output/age.ts';
import { formatHost, formatHosts } from '../output/hosts.ts';
import { type View, wrap } from '../output/page.ts';
import { durationOption } from '../time-option.ts';
import { usageError } from '../usage-error.ts';
import { defineVerb, type Noun, yesOption } from '../verb.ts';
import { importHosts } from './host-import.ts';

interface AddOptions {
  readonly reach?: 'push' | 'pull';
  readonly address?: string;
  readonly existing?: boolean;
  readonly token?: boolean;
  readonly tokenLife?: string;
}

interface YesOptions {
  readonly yes?: boolean;
}

const tokenLifeOption = {
  flags: '--token-life <duration>',
  description: 'how long the token is good (1h, at most 7d)',
};

const add = defineVerb<AddOptions>({
  usage: 'add <host>',
  summary: 'Put a host on the roll, and print its enrolment token once',
  examples: [
    'rollcall host add agent-7',
    'rollcall host add agent-8 --reach push --address 10.0.0.8:7444',
    'rollcall host add agent-9 --existing       (of an older fleet: no token)',
    'rollcall host add printer-1 --token        (without an agent)',
  ],
  options: [
    {
      flags: '--reach <kind>',
      description: 'pull: only the host opens connections (default); push: the hub may call it',
      choices: ['push', 'pull'],
    },
    { flags: '--address <host:port>', description: 'where the hub calls it' },
    { flags: '--existing', description: 'it derives its keys from the fleet’s master already' },
    { flags: '--token', description: 'it runs no agent: print a token of its own, which it presents itself' },
    tokenLifeOption,
  ],
  run: async (context, [id], { reach, address, existing, token, tokenLife }) => {
    const host = parseHostId(id);
    if (existing === true && tokenLife !== undefined)
      throw usageError('--existing makes no token, so it has no life', 'Leave out --token-life.');
    // It would be a verifier that nobody can ask, and hold each rotation of a shared token closed.
    if (reach === 'push' && address === undefined)
      throw usageError('--reach push takes an address', 'Add --address HOST:PORT, where the hub calls it.');
    if (token === true && tokenLife !== undefined)
      throw usageError('a token of a host has no end of its own', 'Leave out --token-life.');
    const body: AddHostBody = {
      host,
      ...(reach === undefined ? {} : { reach }),
      ...(address === undefined ? {} : { address }),
      ...(existing === true ? { existing } : {}),
      ...(token === true ? { token } : {}),
      ...tokenLifeOf(tokenLife),
    };
    const answer = await context.hub().call(routes.addHost, { body });
    return { json: answer, text: formatAdded(answer, body, context.view) };
  },
});

const reenrol = defineVerb<{ readonly tokenLife?: string }>({
  usage: 'reenrol <host>',
  summary: 'Issue a new enrolment token: redeeming it replaces the host’s pin and keys',
  examples: ['rollcall host reenrol agent-7'],
  options: [tokenLifeOption],
  run: async (context, [id], { tokenLife }) => {
    const host = parseHostId(id);
    const answer = await context.hub().call(routes.reenrolHost, { params: { host }, body: tokenLifeOf(tokenLife) });
    return { json: answer, text: formatToken('may enrol again: this token begins', answer, context.view) };
  },
});

const list = defineVerb({
  usage: 'list',
  summary: 'Show the roll',
  examples: ['rollcall host list', "rollcall host list --json | jq -r '.hosts[] | select(.fresh | not) | .id'"],
  run: async (context) => {
    const answer = await context.hub().call(routes.listHosts);
    return { json: answer, text: formatHosts(answer.hosts, context.view) };
  },
});

const show = defineVerb({
  usage: 'show <host>',
  summary: 'Show everything about one host',
  examples: ['rollcall host show agent-7'],
  run: async (context, [id]) => {
    const answer = await context.hub().call(routes.showHost, { params: { host: parseHostId(id) } });
    return { json: answer, text: formatHost(answer, context.view) };
  },
});

const evict = defineVerb<YesOptions & { readonly ban?: boolean }>({
  usage: 'evict <host>',
  summary: 'End every credential of a host at once; it stays on the roll',
  examples: ['rollcall host evict agent-7', 'rollcall host evict agent-7 --ban --yes'],
  options: [{ flags: '--ban', description: 'it may not enrol again either' }, yesOption],
  run: async (context, [id], options) => {
    const host = parseHostId(id);
    await context.confirm(`Evict ${host}? Its pin, keys and tokens die at once.`, options);
    context.progress(`evicting ${host} …`);
    const answer = await context
      .hub()
      .call(routes.evictHost, { params: { host }, body: options.ban === true ? { ban: true } : {} });
    const next = options.ban === true ? [] : [`It may enrol again: rollcall host reenrol ${host}`];
    return { json: answer, text: [`${host} is evicted.`, ...formatHeld(answer, context.view), ...next] };
  },
});

const remove = defineVerb<YesOptions>({
  usage: 'remove <host>',
  summary: 'Take a host off the roll, with its pin and keys',
  examples: ['rollcall host remove agent-7', 'rollcall host remove agent-7 --yes'],
  options: [yesOption],
  run: async (context, [id], options) => {
    const host = parseHostId(id);
    await context.confirm(`Remove ${host} from the roll? Its pin and keys go with it.`, options);
    const answer = await context.hub().call(routes.removeHost, { params: { host } });
    return { json: answer, text: [`${host} is off the roll.`, ...formatHeld(answer, context.view)] };
  },
});

const suspend = defineVerb({
  usage: 'suspend <host>',
  summary: 'Refuse a host for a while; it keeps its pin and its place on the roll',
  examples: ['rollcall host suspend agent-7'],
  run: async (context, [id]) => {
    const host = parseHostId(id);
    const answer = await context.hub().call(routes.suspendHost, { params: { host } });
    return {
      json: answer,
      text: [
        `${host} is suspended: everything it sends is refused.`,
        `To let it in again: rollcall host resume ${host}`,
      ],
    };
  },
});

const resume = defineVerb({
  usage: 'resume <host>',
  summary: 'Let a suspended host in again, with what is assigned to it now',
  examples: ['rollcall host resume agent-7'],
  run: async (context, [id]) => {
    const host = parseHostId(id);
    const answer = await context.hub().call(routes.resumeHost, { params: { host } });
    return { json: answer, text: [`${host} is active again.`] };
  },
});

const unban = defineVerb({
  usage: 'unban <host>',
  summary: 'Let an evicted and banned host enrol again; it stays evicted until it does',
  examples: ['rollcall host unban agent-7'],
  run: async (context, [id]) => {
    const host = parseHostId(id);
    const answer = await context.hub().call(routes.unbanHost, { params: { host } });
    return { json: answer, text: [`${host} may enrol again: rollcall host reenrol ${host}`] };
  },
});

const token = defineVerb({
  usage: 'token <host>',
  summary: 'Issue a further token of a host, and print it once; the one before goes when this one was seen',
  examples: ['rollcall host token printer-1'],
  run: async (context, [id]) => {
    const host = parseHostId(id);
    const answer = await context.hub().call(routes.issueHostToken, { params: { host } });
    const next = wrap(
      'The one before goes on being good until this one is seen. To end one at once: rollcall host drop-token HOST ID',
      context.view.width,
    );
    return { json: answer, text: [...formatHostToken(`has a token ${answer.id},`, answer, context.view), '', ...next] };
  },
});

const dropToken = defineVerb<YesOptions>({
  usage: 'drop-token <host> <id>',
  summary: 'End a token of a host at once; `host show` has their ids',
  examples: ['rollcall host drop-token printer-1 5f0c2a91', 'rollcall host drop-token printer-1 5f0c2a91 --yes'],
  options: [yesOption],
  run: async (context, [id, tokenId = ''], options) => {
    const host = parseHostId(id);
    if (!/^[0-9a-f]{8}$/.test(tokenId)) throw usageError('the id of a token has 8 digits of 0-9 a-f');
    await context.confirm(`End the token ${tokenId} of ${host}? What presents it is refused at once.`, options);
    const answer = await context.hub().call(routes.dropHostToken, { params: { host, id: tokenId } });
    return { json: answer, text: [`The token ${tokenId} of ${host} has ended.`] };
  },
});

export const hostNoun: Noun = {
  name: 'host',
  summary: 'The roll: every host, whatever its state',
  verbs: [add, importHosts, list, show, reenrol, token, dropToken, suspend, resume, evict, unban, remove],
};

function tokenLifeOf(text: string | undefined): { tokenLifeMs?: number } {
  return text === undefined ? {} : { tokenLifeMs: durationOption('--token-life', text) };
}

function formatAdded(answer: AddHostAnswer, { token }: AddHostBody, view: View): string[] {
  if (answer.token === undefined) return formatExisting(answer, view);
  if (token !== true) return formatToken('is on the roll,', answer, view);
  return formatHostToken('is on the roll as active,', { ...answer, token: answer.token }, view);
}

function formatHostToken(
  what: string,
  answer: { readonly host: string; readonly life: number; readonly token: string },
  view: View,
): string[] {
  return [
    `${view.style.bold(answer.host)} ${what} life ${answer.life}.`,
    'Its own token, shown this once:',
    '',
    answer.token,
    '',
    'On the host, in a file of mode 0600; what runs there sends it with each request:',
    '  Authorization: Bearer rch_…',
  ];
}

function formatToken(what: string, answer: AddHostAnswer, view: View): string[] {
  return [
    `${view.style.bold(answer.host)} ${what} life ${answer.life}.`,
    `Its enrolment token, shown this once, good until ${formatInstant(answer.expiresAt ?? null, view.nowMs)}:`,
    '',
    answer.token ?? '',
    '',
    'On the host, as root; paste the token, then Ctrl-D:',
    '  umask 077; cat > /run/rollcall-token',
    '  rollcall agent start --state /var/lib/rollcall-agent \\',
    '    --enrol /run/rollcall-token',
  ];
}

function formatExisting(answer: AddHostAnswer, view: View): string[] {
  return [
    `${view.style.bold(answer.host)} is on the roll as active, life ${answer.life}, without a pin.`,
    ...wrap(
      'It is known by what it derives from the master. On the host, with the hub-root file that `rollcall hub status` prints:',
      view.width,
    ),
    '  rollcall agent start --state /var/lib/rollcall-agent --hub https://HUB:7443 \\',
    `    --host ${answer.host} --life ${answer.life} \\`,
    '    --hub-root-file /etc/rollcall/hub-root.json \\',
    '    --master-file /etc/rollcall/master',
    ...wrap(
      'Nothing is sealed to it before it has a pin: `rollcall host reenrol`, or first use (`rollcall pin exposure`).',
      view.width,
    ),
  ];
}

function formatHeld({ host, heldSecrets }: HostChangeAnswer, view: View): string[] {
  const others = heldSecrets.filter((name) => name !== 'master');
  const knowsMaster = heldSecrets.length > others.length;
  return [
    ...(knowsMaster
      ? [
          ...wrap(
            `${host} knows the master, so this revokes nothing of what it can derive, for itself or in the name of others: only a rotation of the master does.`,
            view.width,
          ).map(view.style.warn),
          '  rollcall rotation start master --reason leak',
        ]
      : []),
    ...(others.length === 0
      ? []
      : wrap(
          `It held ${others.join(', ')}, which others hold too: what it knows of that ends with a rotation (\`rollcall rotation start ${others[0]} --reason leak --narrow-by 24h\`).`,
          view.width,
        )),
  ];
}

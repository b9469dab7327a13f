/** Pure judgement over what was gathered of an agent: what is wrong, and the command that mends it (design 8, doctor). */
import { limits } from '@rollcall/core/limits';
import { type Finding, judgePrivacy, judgeSpace, shellWord } from '@rollcall/wire';
import { judgeSinks } from './judge-sinks.ts';
import type { GivenFile, ObservedAgent, ProbedHub } from './observed-agent.ts';

/** In the order in which they are worth mending. */
export function judgeAgent(agent: ObservedAgent): Finding[] {
  if (agent.directoryFact.state === 'absent') return [missingDirectory(agent)];
  return [
    ...judgeDirectory(agent),
    ...judgeSlots(agent),
    ...judgeIdentity(agent),
    ...agent.given.flatMap((file) => judgeGiven(agent, file)),
    ...judgeHubs(agent),
    ...judgeListener(agent),
    ...judgeRunning(agent),
    ...judgeSinks(agent),
    ...judgeSpace(agent.directory, agent.freeBytes, limits.agentDiskFreeBytes),
  ];
}

function missingDirectory({ directory }: ObservedAgent): Finding {
  const remedy = `rollcall agent start --state ${shellWord(directory)} --enrol FILE`;
  return {
    code: 'state_missing',
    about: directory,
    text: 'There is no such directory: this host has no identity yet.',
    remedy,
  };
}

function judgeDirectory({
  directory,
  directoryFact,
  directoryUnwritable,
  uid,
  socketPathBytes,
}: ObservedAgent): Finding[] {
  const word = shellWord(directory);
  const unwritable: Finding = {
    code: 'state_not_writable',
    about: directory,
    text: `Nothing can be written there (${directoryUnwritable}), so no new secret can be taken.`,
    remedy:
      directoryUnwritable === 'EROFS'
        ? `mount -o remount,rw "$(df --output=target ${word} | tail -1)"`
        : `chown -R ${uid} ${word}`,
  };
  const tooLong: Finding = {
    code: 'socket_path_too_long',
    about: directory,
    text: `The path of its socket has ${socketPathBytes} bytes, and the system takes ${limits.unixSocketPathBytes}.`,
    remedy: `mv ${word} /var/lib/rollcall-agent`,
  };
  return [
    ...judgePrivacy(directoryFact, { path: directory, uid, loose: 'state_loose_mode', foreign: 'state_wrong_owner' }),
    ...(directoryUnwritable === null ? [] : [unwritable]),
    ...(socketPathBytes > limits.unixSocketPathBytes ? [tooLong] : []),
  ];
}

function judgeSlots({ directory, slots, uid, identity }: ObservedAgent): Finding[] {
  const privacy = slots.flatMap(({ path, fact }) =>
    judgePrivacy(fact, { path, uid, loose: 'slot_loose_mode', foreign: 'slot_wrong_owner' }),
  );
  const torn = slots.filter(({ content }) => content === 'torn');
  const newer = slots.filter(({ content }) => content === 'newer');
  const whole = slots.some(({ content }) => content === 'whole');
  const word = shellWord(directory);
  return [
    ...privacy,
    ...newer.map(({ path }) => ({
      code: 'state_too_new',
      about: path,
      text: 'A newer version of the agent wrote it.',
      remedy: 'npm install @rollcall/cli@latest @rollcall/agent@latest',
    })),
    ...(torn.length > 0 && whole
      ? torn.map(({ path }) => ({
          code: 'slot_torn',
          about: path,
          text: 'It is damaged; the other one is whole and is used, and the next write mends it. Look at the disk.',
          remedy: `dmesg --level=err,warn | tail; rollcall agent status --state ${word}`,
        }))
      : []),
    ...(torn.length > 0 && !whole && newer.length === 0
      ? [
          {
            code: 'state_torn',
            about: directory,
            text: 'No slot of the state is whole, so the agent does not start: it makes no new identity by itself.',
            remedy: `mv ${word} ${shellWord(`${directory}.damaged`)}  # then, on the hub: rollcall host reenrol ${identity?.host ?? 'HOST'}`,
          },
        ]
      : []),
  ];
}

function judgeIdentity({ directory, slots, identity }: ObservedAgent): Finding[] {
  const isEmpty = slots.every(({ content }) => content === 'absent');
  if (!isEmpty && (identity === null || identity.canSpeak)) return [];
  const text = isEmpty
    ? 'There is no state in it: this host has no identity yet.'
    : 'This host has a key, and nothing to present: it never enrolled.';
  const remedy = `rollcall agent start --state ${shellWord(directory)} --enrol FILE`;
  return [{ code: 'identity_missing', about: directory, text, remedy }];
}

/** A token that was redeemed may be gone; a file that is there is looked at. */
function judgeGiven({ uid, identity }: ObservedAgent, { key, path, fact, root }: GivenFile): Finding[] {
  const isSecret = key !== 'hub_root_file';
  const missing: Finding = {
    code: 'given_file_missing',
    about: path,
    text: `${key} names it, and it is not there.`,
    remedy: key === 'enrol' ? 'rollcall host reenrol HOST  # on the hub' : `ls -l ${shellWord(path)}`,
  };
  const foreign: Finding = {
    code: 'hub_root_mismatch',
    about: path,
    text: 'It is not the hub root that this host was enrolled under, or no hub-root file at all.',
    remedy: 'rollcall hub status --json | jq .hubRoot  # on the hub',
  };
  return [
    ...(fact.state === 'absent' && identity?.canSpeak !== true ? [missing] : []),
    ...(isSecret
      ? judgePrivacy(fact, { path, uid, loose: 'given_file_loose_mode', foreign: 'given_file_wrong_owner' })
      : []),
    ...(fact.state === 'there' && root !== undefined && identity !== null && root !== identity.hubRoot
      ? [foreign]
      : []),
  ];
}

function judgeHubs({ hubs, directory }: ObservedAgent): Finding[] {
  return hubs.flatMap((hub) => [...judgeReach(hub, directory), ...judgeClock(hub)]);
}

function judgeReach({ url, failure }: ProbedHub, directory: string): Finding[] {
  if (failure === null) return [];
  const address = url.replace(/^https:\/\//, '').replace(/\/+$/, '');
  if (failure.code === 'hub_untrusted') {
    const text = `What answers there did not prove that it is the hub of this host (${failure.reason}).`;
    const remedy = `rollcall hub status --json | jq -c .hubRoot  # on the hub; compare it with the one in ${directory}`;
    return [{ code: 'hub_untrusted', about: url, text, remedy }];
  }
  const text = `The hub does not answer (${failure.reason}).`;
  const remedy = `openssl s_client -connect ${shellWord(address)} -brief </dev/null`;
  return [{ code: 'hub_unreachable', about: url, text, remedy }];
}

function judgeClock({ url, dateMs, localMs }: ProbedHub): Finding[] {
  const skewMs = dateMs === null ? 0 : localMs - dateMs;
  if (Math.abs(skewMs) <= limits.clockSkewMs) return [];
  const text = `It is ${Math.round(Math.abs(skewMs) / 1_000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} the hub at ${url}.`;
  return [{ code: 'clock_skew', about: 'the clock of this machine', text, remedy: 'timedatectl set-ntp true' }];
}

/** Configured and closed: whoever is to reach this host does not. */
function judgeListener({ directory, running }: ObservedAgent): Finding[] {
  const { open, address = null, reason } = running?.listener ?? {};
  if (open !== false || address === null) return [];
  const hint = running?.problems.find(({ code }) => code === reason)?.hint ?? 'It was not opened yet.';
  const remedy = `rollcall agent status --state ${shellWord(directory)}`;
  return [{ code: 'listener_closed', about: address, text: `The listener is closed (${reason}). ${hint}`, remedy }];
}

/** What the agent finds wrong with itself, in its own words. */
function judgeRunning({ directory, running }: ObservedAgent): Finding[] {
  const told = new Set<string | null | undefined>([
    running?.listener?.reason,
    ...(running?.sinks ?? []).map(({ problem }) => problem),
  ]);
  const problems = (running?.problems ?? []).filter(({ code }) => !told.has(code));
  return problems.map(({ code, hint }) => ({
    code: `agent_${code}`,
    about: 'the agent that runs here',
    text: hint,
    remedy: `rollcall agent status --state ${shellWord(directory)}`,
  }));
}

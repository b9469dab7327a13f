/** Pure judgement over what was gathered of a hub: what is wrong, and the command that mends it (design 8, doctor). */
import { limits } from '@rollcall/core/limits';
import { type Finding, judgePrivacy, judgeSpace, shellWord } from '@rollcall/wire';
import { listNames } from '../list-names.ts';
import type { ObservedHub, StoredFacts } from './observed-hub.ts';

/** In the order in which they are worth mending. */
export function judgeHub(facts: ObservedHub): Finding[] {
  if (facts.directory.state === 'absent') return [missingDirectory(facts)];
  return [
    ...judgeDirectory(facts),
    ...judgeKek(facts),
    ...judgeOfflineKey(facts),
    ...judgeDatabase(facts),
    ...judgeSocket(facts),
    ...judgeHubRootFile(facts),
    ...judgeRunning(facts),
    ...judgeSpace(facts.dir, facts.freeBytes, limits.hubDiskFreeBytes),
  ];
}

function missingDirectory({ dir }: ObservedHub): Finding {
  const remedy = `rollcall hub init --dir ${shellWord(dir)}`;
  return { code: 'data_dir_missing', about: dir, text: 'There is no such directory.', remedy };
}

function judgeDirectory({ dir, directory, directoryUnwritable, uid }: ObservedHub): Finding[] {
  const unwritable: Finding = {
    code: 'data_dir_not_writable',
    about: dir,
    text: `Nothing can be written there (${directoryUnwritable}).`,
    remedy:
      directoryUnwritable === 'EROFS'
        ? `mount -o remount,rw "$(df --output=target ${shellWord(dir)} | tail -1)"`
        : `chown -R ${uid} ${shellWord(dir)}`,
  };
  return [
    ...judgePrivacy(directory, { path: dir, uid, loose: 'data_dir_loose_mode', foreign: 'data_dir_wrong_owner' }),
    ...(directoryUnwritable === null ? [] : [unwritable]),
  ];
}

function judgeKek({ dir, kekPath, kek, kekFingerprint, stored, uid }: ObservedHub): Finding[] {
  const about = kekPath;
  const word = shellWord(kekPath);
  if (kek.state === 'absent') {
    const text = 'There is no key-encryption key here, and nothing in the database can be read without it.';
    return [{ code: 'kek_missing', about, text, remedy: `rollcall doctor --dir ${shellWord(dir)} --kek-file FILE` }];
  }
  const expected = stored.state === 'read' ? stored.kekFingerprint : null;
  const isInside = kekPath.startsWith(`${dir}/`);
  return [
    ...judgePrivacy(kek, { path: kekPath, uid, loose: 'kek_loose_mode', foreign: 'kek_wrong_owner' }),
    ...(isInside
      ? [
          {
            code: 'kek_in_data_dir',
            about,
            text: 'It lies in the data directory, so every copy of the data carries its own key.',
            remedy: `mv ${word} ${shellWord(`${dir}.kek`)}`,
          },
        ]
      : []),
    ...(kekFingerprint === null
      ? [
          {
            code: 'kek_unreadable',
            about,
            text: 'It holds no 32 bytes in base64url, or cannot be read.',
            remedy: `ls -l ${word} && wc -c ${word}`,
          },
        ]
      : []),
    ...(kekFingerprint !== null && expected !== null && kekFingerprint !== expected
      ? [
          {
            code: 'kek_wrong',
            about,
            text: `It is the key of another database: this one is under ${expected.slice(0, 16)}…, and it is ${kekFingerprint.slice(0, 16)}….`,
            remedy: `rollcall doctor --dir ${shellWord(dir)} --kek-file FILE`,
          },
        ]
      : []),
  ];
}

function judgeOfflineKey({ offlineKey, offlineKeyPath }: ObservedHub): Finding[] {
  if (offlineKey.state === 'absent') return [];
  const word = shellWord(offlineKeyPath);
  const text = 'The private hub root is on this machine still: whoever has it can appoint a hub that every host obeys.';
  return [
    {
      code: 'offline_key_present',
      about: offlineKeyPath,
      text,
      remedy: `shred -u ${word}  # once two copies of it are kept elsewhere`,
    },
  ];
}

function judgeDatabase(facts: ObservedHub): Finding[] {
  const { dir, database, stored, uid } = facts;
  const about = `${dir}/hub.db`;
  if (stored.state === 'absent') {
    return [
      {
        code: 'database_missing',
        about,
        text: 'There is no database in the data directory.',
        remedy: `rollcall hub init --dir ${shellWord(dir)}`,
      },
    ];
  }
  const privacy = judgePrivacy(database, {
    path: about,
    uid,
    loose: 'database_loose_mode',
    foreign: 'database_wrong_owner',
  });
  if (stored.state === 'unreadable') {
    const text = `It cannot be read as the database of a hub (${stored.cause}).`;
    return [
      ...privacy,
      {
        code: 'database_unreadable',
        about,
        text,
        remedy: `ls -l ${shellWord(about)} && head -c 15 ${shellWord(about)}`,
      },
    ];
  }
  return [...privacy, ...judgeSchema(about, dir, stored), ...judgeInside(facts, about, stored)];
}

function judgeSchema(about: string, dir: string, { schema, knownSchema }: StoredFacts): Finding[] {
  if (schema > knownSchema) {
    const text = `It has schema ${schema}, and this program knows ${knownSchema}: a newer version of Rollcall wrote it.`;
    return [{ code: 'schema_newer', about, text, remedy: 'npm install @rollcall/cli@latest @rollcall/hub@latest' }];
  }
  if (schema === knownSchema) return [];
  const text = `It has schema ${schema}; the next start brings it to ${knownSchema}, and there is no way back but a copy.`;
  return [
    { code: 'schema_older', about, text, remedy: `cp -a ${shellWord(dir)} ${shellWord(`${dir}.before-upgrade`)}` },
  ];
}

function judgeInside({ nowMs, hubRoot }: ObservedHub, about: string, { inside }: StoredFacts): Finding[] {
  if (inside === null) return [];
  const behindMs = inside.floorMs - nowMs;
  const rows = Object.entries(inside.unreadable).filter(([, count]) => count > 0);
  return [
    ...(behindMs > limits.clockSkewMs
      ? [
          {
            code: 'clock_behind',
            about: 'the clock of this machine',
            text: `It is ${Math.round(behindMs / 1_000)} s behind the time that this hub has seen already, at which it stands until then.`,
            remedy: 'timedatectl set-ntp true',
          },
        ]
      : []),
    ...(inside.authorityEndsAtMs <= nowMs
      ? [
          {
            code: 'authority_ended',
            about,
            text: 'The certificate authority of the fleet has ended, so no certificate of the hub is good any more.',
            remedy: 'date  # is the clock right? else the hub needs a new authority',
          },
        ]
      : []),
    ...(rows.length > 0
      ? [
          {
            code: 'rows_unreadable',
            about,
            text: `Rows that trust rests on were not written by this hub, or are damaged: ${rows.map(([table, count]) => `${count} in ${table}`).join(', ')}${inside.unreadableHosts.length === 0 ? '' : ` (${listNames(inside.unreadableHosts)})`}.`,
            remedy: `rollcall host reenrol ${shellWord(inside.unreadableHosts[0] ?? 'HOST')}  # for each of them; or remove it`,
          },
        ]
      : []),
    ...(hubRoot !== null && hubRoot.root !== inside.hubRoot
      ? [otherRoot('the hub root in the database is another')]
      : []),
  ];
}

function judgeSocket({ dir, socket, socketPathBytes, uid, isLocked, running }: ObservedHub): Finding[] {
  const about = `${dir}/operator.sock`;
  const tooLong: Finding = {
    code: 'socket_path_too_long',
    about,
    text: `Its path has ${socketPathBytes} bytes, and the system takes ${limits.unixSocketPathBytes}.`,
    remedy: `mv ${shellWord(dir)} /var/lib/rollcall`,
  };
  const silent: Finding = {
    code: 'hub_unanswering',
    about,
    text: 'A process holds the database, and none answers on the socket: a second hub, or one that hangs.',
    remedy: `fuser -v ${shellWord(`${dir}/hub.db.lock`)}`,
  };
  return [
    ...judgePrivacy(socket, { path: about, uid, loose: 'socket_loose_mode', foreign: 'socket_wrong_owner' }),
    ...(socketPathBytes > limits.unixSocketPathBytes ? [tooLong] : []),
    ...(isLocked && running === null ? [silent] : []),
  ];
}

function judgeHubRootFile({ dir, hubRootFile, hubRoot, running }: ObservedHub): Finding[] {
  if (hubRootFile.state === 'absent' || hubRoot === null) {
    const about = `${dir}/hub-root.json`;
    const text = hubRootFile.state === 'absent' ? 'The hub-root file is missing.' : 'It is no hub-root file.';
    return [{ code: 'hub_root_unreadable', about, text, remedy: printRoot }];
  }
  if (running === null) return [];
  const isSame = running.hubRoot.root === hubRoot.root && running.hubRoot.spki.join() === hubRoot.spki.join();
  return isSame ? [] : [otherRoot('the hub that runs here says another')];
}

const printRoot = 'rollcall hub status --json | jq .hubRoot > hub-root.json';

function otherRoot(what: string): Finding {
  const text = `It is not the one of this hub: ${what}. Hosts that are started with it refuse the hub.`;
  return { code: 'hub_root_mismatch', about: 'hub-root.json', text, remedy: printRoot };
}

/** What the hub finds wrong with itself, in its own words. */
function judgeRunning({ dir, running }: ObservedHub): Finding[] {
  return (running?.checks ?? [])
    .filter(({ ok }) => !ok)
    .map(({ name, detail }) => ({
      code: `hub_check_${name}`,
      about: 'the hub that runs here',
      text: detail,
      remedy: `rollcall hub status --dir ${shellWord(dir)}`,
    }));
}

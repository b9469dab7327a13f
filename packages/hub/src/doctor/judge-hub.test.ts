/** What cannot be seeded into a directory of a test: clocks, disks, mounts, and a hub that finds itself wrong. */
import { limits } from '@rollcall/core/limits';
import { describe, expect, it } from 'vitest';
import { judgeHub } from './judge-hub.ts';
import type { ObservedHub, StoredFacts } from './observed-hub.ts';

const NOW_MS = Date.UTC(2026, 10, 29, 12);
const file = (mode = 0o600) => ({ state: 'there', kind: 'file', mode, uid: 7 }) as const;
const root = { v: 1 as const, trustDomain: 'x', root: 'R', spki: ['S'], hubs: ['https://h:1'] };
const inside: NonNullable<StoredFacts['inside']> = {
  hubRoot: 'R',
  floorMs: NOW_MS - 1_000,
  authorityEndsAtMs: NOW_MS + 1,
  unreadable: { pins: 0, hosts: 0, generations: 0 },
  unreadableHosts: [],
  decidedRungs: [],
};
const stored: StoredFacts = { state: 'read', schema: 5, knownSchema: 5, kekFingerprint: 'k', inside };
const healthy: ObservedHub = {
  dir: '/d',
  kekPath: '/d.kek',
  offlineKeyPath: '/d.offline-root-key',
  uid: 7,
  directory: { state: 'there', kind: 'directory', mode: 0o700, uid: 7 },
  directoryUnwritable: null,
  database: file(),
  kek: file(),
  offlineKey: { state: 'absent' },
  socket: { state: 'absent' },
  hubRootFile: file(0o644),
  socketPathBytes: 20,
  freeBytes: limits.hubDiskFreeBytes,
  nowMs: NOW_MS,
  kekFingerprint: 'k',
  hubRoot: root,
  isLocked: false,
  stored,
  running: null,
};
const running = {
  version: '0.1.0',
  startedAt: '',
  time: '',
  hubRoot: root,
  hubKey: { kid: 'k', serial: 1 },
  fleetAddress: 'a:1',
  metricsAddress: 'a:2',
  checks: [{ name: 'database', ok: true, detail: '' }],
};

const rows: readonly [string, Partial<ObservedHub>, RegExp][] = [
  ['data_dir_not_writable', { directoryUnwritable: 'EROFS' }, /^mount -o remount,rw /],
  ['data_dir_not_writable', { directoryUnwritable: 'EACCES' }, /^chown -R 7 \/d$/],
  ['kek_wrong_owner', { kek: { ...file(), uid: 8 } }, /^chown 7 \/d\.kek$/],
  ['database_wrong_owner', { database: { ...file(), uid: 8 } }, /^chown 7 \/d\/hub\.db$/],
  ['disk_nearly_full', { freeBytes: limits.hubDiskFreeBytes - 1 }, /^df -h \/d$/],
  [
    'clock_behind',
    { stored: { ...stored, inside: { ...inside, floorMs: NOW_MS + limits.clockSkewMs + 1 } } },
    /^timedatectl /,
  ],
  ['authority_ended', { stored: { ...stored, inside: { ...inside, authorityEndsAtMs: NOW_MS } } }, /^date/],
  [
    'rows_unreadable',
    { stored: { ...stored, inside: { ...inside, unreadable: { pins: 1 }, unreadableHosts: ['agent-7'] } } },
    /^rollcall host reenrol agent-7 /,
  ],
  ['hub_unanswering', { isLocked: true }, /^fuser -v \/d\/hub\.db\.lock$/],
  [
    'hub_check_hub_time',
    { running: { ...running, checks: [{ name: 'hub_time', ok: false, detail: 'The wall clock jumped.' }] } },
    /^rollcall hub status --dir \/d$/,
  ],
  ['hub_root_mismatch', { running: { ...running, hubRoot: { ...root, spki: ['T'] } } }, /^rollcall hub status/],
];

describe('judgement', () => {
  it('of a healthy hub finds nothing, running or not, at the edge of every bound', () => {
    expect(judgeHub(healthy)).toEqual([]);
    expect(judgeHub({ ...healthy, isLocked: true, running, socket: { ...file(), kind: 'socket' } })).toEqual([]);
    expect(judgeHub({ ...healthy, freeBytes: null, stored: { ...stored, inside: null } })).toEqual([]);
    const edge = { ...inside, floorMs: NOW_MS + limits.clockSkewMs };
    expect(
      judgeHub({ ...healthy, socketPathBytes: limits.unixSocketPathBytes, stored: { ...stored, inside: edge } }),
    ).toEqual([]);
  });

  it.each(rows)('finds %s, alone, with its remedy: %#', (code, change, remedy) => {
    const findings = judgeHub({ ...healthy, ...change });
    expect(findings).toEqual([expect.objectContaining({ code, remedy: expect.stringMatching(remedy) })]);
  });

  it('shows no more of a fingerprint than tells two apart', () => {
    const [finding] = judgeHub({ ...healthy, kekFingerprint: 'ab'.repeat(32) });
    expect(finding?.text).not.toContain('ab'.repeat(9));
  });
});

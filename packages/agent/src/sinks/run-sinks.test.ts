/** Sinks on a real file system: what is written, what is left alone, and what is said of it. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { decodeUtf8 } from '@rollcall/core/bytes';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemSinkFiles } from '../adapters/sink-files.ts';
import type { SinkFiles } from './ports.ts';
import { contentAt, holding, makePlace, type Place, type Running, runSinks } from './running-sinks.fixture.ts';
import { sinkConfig, tokenAssignment, tokenText } from './sink.fixture.ts';

let place: Place;
const begun: Running[] = [];

beforeEach(() => {
  place = makePlace();
});
afterEach(async () => {
  for (const running of begun.splice(0)) await running.stop();
  place.clear();
});

function run(...given: Parameters<typeof runSinks> extends [Place, ...infer Rest] ? Rest : never): Running {
  const running = runSinks(place, ...given);
  begun.push(running);
  return running;
}

const web = () => sinkConfig(place.path);
const one = tokenAssignment({ versions: [1] });
const two = tokenAssignment({ versions: [1, 2], present: 2, step: 2 });
const names = () => readdirSync(place.directory).sort();
const modeOf = (path: string) => (lstatSync(path).mode & 0o7777).toString(8);
/** Any change of what the test put there. */
const ours = () => names().filter((name) => name.startsWith('.web.rollcall-'));

describe('a sink', () => {
  it('is a link to a fresh directory beside it, with modes that others cannot read', async () => {
    const running = run([web()], [one]);
    await running.until('web', { state: 'reloaded', version: 1 });
    expect(lstatSync(place.path).isSymbolicLink()).toBe(true);
    expect(readlinkSync(place.path)).toMatch(/^\.web\.rollcall-[0-9a-f]{16}$/);
    expect(contentAt(place.path)).toEqual({
      present: tokenText(1),
      accept: `${tokenText(1)}\n`,
      current: tokenText(1),
      version: '1',
    });
    expect(modeOf(join(place.directory, readlinkSync(place.path)))).toBe('750');
    for (const name of readdirSync(place.path)) expect(modeOf(join(place.path, name))).toBe('640');
    expect(decodeUtf8(running.sinks.facts()[0]?.live?.reveal() ?? new Uint8Array())).toBe(tokenText(1));
    expect(running.sinks.facts()[0]).not.toHaveProperty('problem');
  });

  it('has the modes that are asked for, whatever the umask', async () => {
    const before = process.umask(0o077);
    try {
      const sinks = [0o400, 0o440, 0o600].map((mode) =>
        sinkConfig(join(place.directory, mode.toString(8)), { name: mode.toString(8), mode }),
      );
      const running = run(sinks, [one]);
      for (const { name, path, mode } of sinks) {
        await running.until(name, { state: 'reloaded' });
        expect(modeOf(join(path, 'present'))).toBe(mode.toString(8));
        expect(statSync(path).mode & 0o777).toBe(mode === 0o440 ? 0o750 : 0o700);
      }
    } finally {
      process.umask(before);
    }
  });

  // Skipped without root: only root may give files away.
  it.skipIf(process.getuid?.() !== 0)('belongs to whom it is given, by number and by name', async () => {
    const running = run([sinkConfig(place.path, { owner: '12345', group: 'nogroup' })], [one]);
    await running.until('web', { state: 'reloaded' });
    const nogroup = /^nogroup:[^:]*:(\d+)/m.exec(readFileSync('/etc/group', 'utf8'))?.[1];
    for (const path of [`${place.path}/.`, `${place.path}/present`, `${place.path}/accept`]) {
      expect(statSync(path)).toMatchObject({ uid: 12_345, gid: Number(nogroup) });
    }
  });

  it('of an owner that nobody knows is not written, and is once it is corrected', async () => {
    const running = run([sinkConfig(place.path, { owner: 'no-such-account' })], [one]);
    await running.until('web', { state: 'unwritten', version: null, problem: 'sink_owner_unknown' });
    expect(names()).toEqual([]);
    running.sinks.configure([web()]);
    await running.until('web', { state: 'reloaded' });
  });

  it('that may not be given away is not written', async () => {
    const files: SinkFiles = {
      ...systemSinkFiles,
      give: async (path, looks) => {
        if (looks.gid !== undefined) throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
        return systemSinkFiles.give(path, looks);
      },
    };
    const running = run([sinkConfig(place.path, { group: '0' })], [one], { files });
    await running.until('web', { state: 'unwritten', problem: 'sink_owner_refused' });
    expect(names()).toEqual([]);
    running.sinks.configure([web()]);
    await running.until('web', { state: 'reloaded' });
  });

  it('is turned to the next content, and keeps the directory before it alone', async () => {
    const running = run([web()], [one]);
    await running.until('web', { version: 1 });
    const first = readlinkSync(place.path);
    running.sinks.hold(holding(two));
    await running.until('web', { version: 2, state: 'reloaded' });
    expect(contentAt(place.path)).toMatchObject({ present: tokenText(2), retiring: tokenText(1), version: '2' });
    expect(readdirSync(join(place.directory, first))).toContain('present');
    running.sinks.hold(holding(tokenAssignment({ versions: [2], step: 3 })));
    await expect.poll(() => contentAt(place.path)).not.toHaveProperty('retiring');
    await expect.poll(() => existsSync(join(place.directory, first))).toBe(false);
    expect(names()).toHaveLength(3);
  });

  it('waits for a secret that is not held, and keeps what lies there', async () => {
    const running = run([web()], []);
    await running.until('web', { state: 'unwritten', version: null, live: null });
    expect(running.sinks.facts()[0]).not.toHaveProperty('problem');
    running.sinks.hold(holding(one));
    await running.until('web', { state: 'reloaded', version: 1 });
    running.sinks.hold(holding());
    await running.nextMinute();
    await running.until('web', { state: 'reloaded', version: 1 });
    expect(contentAt(place.path)).toMatchObject({ present: tokenText(1) });
  });

  it('is left alone by a start that finds it as it was written', async () => {
    const first = run([web()], [one]);
    await first.until('web', { state: 'reloaded' });
    await first.stop();
    const target = readlinkSync(place.path);
    const second = run([web()], [one]);
    await second.until('web', { state: 'reloaded', version: 1 });
    await second.nextMinute();
    expect(readlinkSync(place.path)).toBe(target);
    expect(second.log.map(({ message }) => message)).not.toContain('a sink was written');
  });

  it('of an agent whose state is gone is taken over', async () => {
    const first = run([web()], [one]);
    await first.until('web', { state: 'reloaded' });
    await first.stop();
    rmSync(join(place.state, 'sinks.json'));
    const second = run([web()], [two]);
    await second.until('web', { state: 'reloaded', version: 2 });
    expect(ours()).toHaveLength(2);
  });
});

describe('a sink that somebody else changed', () => {
  const changes: readonly (readonly [string, () => void])[] = [
    ['by its content', () => writeFileSync(join(place.path, 'present'), 'another-token-altogether')],
    ['by a file more', () => writeFileSync(join(place.path, 'extra'), '')],
    ['by a file less', () => unlinkSync(join(place.path, 'accept'))],
    ['by its mode', () => chmodSync(join(place.path, 'present'), 0o644)],
    ['by the mode of its directory', () => chmodSync(`${place.path}/.`, 0o755)],
    ['by its link', () => turn('/etc')],
    ['by a link to nothing', () => turn('nothing')],
  ];
  function turn(target: string): void {
    unlinkSync(place.path);
    symlinkSync(target, place.path);
  }
  const snapshot = () =>
    JSON.stringify([
      readlinkSync(place.path),
      names(),
      ...names().map((name) => lstatSync(join(place.directory, name)).mtimeMs),
    ]);

  it.each(changes)('%s is reported, not fought over, and written at the next step', async (_what, change) => {
    const running = run([web()], [one]);
    await running.until('web', { state: 'reloaded' });
    change();
    const changed = snapshot();
    await running.nextMinute();
    await running.until('web', { state: 'drifted', problem: 'sink_drifted' });
    await running.nextMinute();
    expect(snapshot()).toBe(changed);
    // The same content under another step.
    running.sinks.hold(holding({ ...one, step: 2 }));
    await running.until('web', { state: 'reloaded', version: 1 });
    expect(contentAt(place.path)).toMatchObject({ present: tokenText(1) });
  });

  it('while no agent ran is reported at start', async () => {
    const first = run([web()], [one]);
    await first.until('web', { state: 'reloaded' });
    await first.stop();
    writeFileSync(join(place.path, 'present'), ' another-token-altogether\n');
    const second = run([web()], [one]);
    await second.until('web', { state: 'drifted', version: null });
    // What programs read is what is reported, trimmed.
    expect(decodeUtf8(second.sinks.facts()[0]?.live?.reveal() ?? new Uint8Array())).toBe('another-token-altogether');
  });

  it('is written anew when the link is gone', async () => {
    const running = run([web()], [one]);
    await running.until('web', { state: 'reloaded' });
    writeFileSync(join(place.path, 'present'), 'another-token-altogether');
    await running.nextMinute();
    await running.until('web', { state: 'drifted' });
    unlinkSync(place.path);
    await running.nextMinute();
    await running.until('web', { state: 'reloaded', version: 1 });
    expect(contentAt(place.path)).toMatchObject({ present: tokenText(1) });
    expect(ours().length).toBeLessThanOrEqual(2);
  });
});

describe('what the agent did not make', () => {
  it.each([
    ['a file', () => writeFileSync(place.path, 'mine'), () => readFileSync(place.path, 'utf8')],
    [
      'a directory',
      () => {
        mkdirSync(place.path);
        writeFileSync(join(place.path, 'present'), 'mine');
      },
      () => readFileSync(join(place.path, 'present'), 'utf8'),
    ],
    ['a link', () => symlinkSync('mine', place.path), () => readlinkSync(place.path)],
  ] as const)(
    'stays at the path of a sink: %s; once it is moved away the sink is written',
    async (_what, make, read) => {
      make();
      const running = run([web()], [one]);
      await running.until('web', { state: 'unwritten', version: null, problem: 'sink_in_the_way' });
      running.sinks.hold(holding(two));
      await running.nextMinute();
      expect(read()).toBe('mine');
      expect(ours()).toEqual([]);
      renameSync(place.path, join(place.directory, 'moved'));
      await running.nextMinute();
      await running.until('web', { state: 'reloaded', version: 2 });
    },
  );

  it('stays where it took the place of a sink', async () => {
    const running = run([web()], [one]);
    await running.until('web', { state: 'reloaded' });
    unlinkSync(place.path);
    writeFileSync(place.path, 'mine');
    running.sinks.hold(holding(two));
    await running.until('web', { state: 'unwritten', problem: 'sink_in_the_way' });
    expect(readFileSync(place.path, 'utf8')).toBe('mine');
  });

  it('stays beside a sink, and what a crash of the agent left goes', async () => {
    const leftover = join(place.directory, '.web.rollcall-0123456789abcdef');
    const kept = [
      '.web.rollcall-0123456789abcdeg',
      '.web.rollcall-fedcba9876543210',
      '.web2.rollcall-0123456789abcdef',
      '.web.rollcall-0123456789ABCDEF',
      'web.rollcall-0123456789abcdef',
    ];
    for (const path of [leftover, ...kept.map((name) => join(place.directory, name))]) mkdirSync(path);
    writeFileSync(join(leftover, 'present'), 'old');
    // Our name, with something in it that is not ours.
    writeFileSync(join(place.directory, '.web.rollcall-fedcba9876543210', 'present'), '');
    writeFileSync(join(place.directory, '.web.rollcall-fedcba9876543210', 'notes'), '');
    symlinkSync('/etc', join(place.directory, '.web.rollcall-aaaaaaaaaaaaaaaa'));
    const running = run([web()], [one]);
    await running.until('web', { state: 'reloaded' });
    await expect.poll(() => existsSync(leftover)).toBe(false);
    for (const name of kept) expect(existsSync(join(place.directory, name))).toBe(true);
    expect(readdirSync(join(place.directory, '.web.rollcall-fedcba9876543210'))).toHaveLength(2);
    expect(existsSync('/etc/passwd')).toBe(true);
    expect(names()).toContain('.web.rollcall-aaaaaaaaaaaaaaaa');
  });
});

describe('the directory of a sink', () => {
  it('may vanish and come back', async () => {
    const running = run([web()], [one]);
    await running.until('web', { state: 'reloaded' });
    const away = `${place.directory}.away`;
    renameSync(place.directory, away);
    await running.nextMinute();
    await running.until('web', { state: 'unwritten', version: null, problem: 'sink_parent_missing', live: null });
    expect(existsSync(place.directory)).toBe(false);
    mkdirSync(place.directory);
    await running.nextMinute();
    await running.until('web', { state: 'reloaded', version: 1 });
    rmSync(away, { recursive: true });
  });

  it.each([0o777, 0o775, 0o757])('is refused where others may write: %o', async (mode) => {
    chmodSync(place.directory, mode);
    const running = run([web()], [one]);
    await running.until('web', { state: 'unwritten', problem: 'sink_parent_unsafe' });
    expect(names()).toEqual([]);
    chmodSync(place.directory, mode | 0o1000);
    await running.nextMinute();
    await running.until('web', { state: 'reloaded' });
  });
});

describe('a write that fails', () => {
  it.each([
    ['ENOSPC', 'sink_disk_full'],
    ['EDQUOT', 'sink_disk_full'],
    ['EROFS', 'sink_unwritable'],
    ['EIO', 'sink_unwritable'],
  ] as const)('with %s leaves the old content in place, and is tried again with back-off', async (code, problem) => {
    let isBroken = false;
    let tries = 0;
    const files: SinkFiles = {
      ...systemSinkFiles,
      create: async (path, mode) => {
        if (!isBroken || path.startsWith(place.state)) return systemSinkFiles.create(path, mode);
        tries += 1;
        const file = await systemSinkFiles.create(path, mode);
        return { ...file, write: () => Promise.reject(Object.assign(new Error('no'), { code })) };
      },
    };
    const running = run([web()], [one], { files });
    await running.until('web', { state: 'reloaded' });
    const before = contentAt(place.path);
    isBroken = true;
    running.sinks.hold(holding(two));
    await running.until('web', { state: 'unwritten', version: 1, problem });
    expect(contentAt(place.path)).toEqual(before);
    expect(ours()).toHaveLength(1);
    await running.nextMinute();
    // 1, 2, 4 … up to 60 s, and not as fast as it can.
    expect(tries).toBeGreaterThan(1);
    expect(tries).toBeLessThan(10);
    isBroken = false;
    await running.nextMinute();
    await running.until('web', { state: 'reloaded', version: 2 });
    expect(running.sinks.facts()[0]).not.toHaveProperty('problem');
  });

  it('at what is remembered of it changes nothing at the path', async () => {
    let isBroken = true;
    const files: SinkFiles = {
      ...systemSinkFiles,
      rename: async (from, to) => {
        if (isBroken && to.startsWith(place.state)) throw Object.assign(new Error('no'), { code: 'EIO' });
        return systemSinkFiles.rename(from, to);
      },
    };
    const running = run([web()], [one], { files });
    await running.until('web', { state: 'unwritten', problem: 'sink_record_unusable' });
    expect(names()).toEqual([]);
    isBroken = false;
    await running.nextMinute();
    await running.until('web', { state: 'reloaded' });
  });

  it('of one sink is no hindrance to another', async () => {
    writeFileSync(place.path, 'mine');
    const other = sinkConfig(join(place.directory, 'other'), { name: 'other' });
    const running = run([web(), other], [one]);
    await running.until('web', { problem: 'sink_in_the_way' });
    await running.until('other', { state: 'reloaded' });
  });

  it('for want of a readable record says so and touches nothing', async () => {
    writeFileSync(join(place.state, 'sinks.json'), '{"format":1,"sinks":[{]}');
    const running = run([web()], [one]);
    await running.until('web', { state: 'unwritten', problem: 'sink_record_unusable' });
    expect(names()).toEqual([]);
    rmSync(join(place.state, 'sinks.json'));
    await running.nextMinute();
    await running.until('web', { state: 'reloaded' });
  });
});

describe('a sink that nobody has looked at yet', () => {
  it('is named, as one whose reader was told of nothing: left out it would be none', async () => {
    const running = run([web()], [one]);
    expect(running.sinks.facts()).toEqual([
      { name: 'web', path: place.path, secret: one.secret, version: null, step: null, state: 'unwritten', live: null },
    ]);
    await running.until('web', { state: 'reloaded', step: one.step });
    running.sinks.configure([]);
    expect(running.sinks.facts()).toEqual([]);
  });
});

describe('a changed configuration', () => {
  it('is taken while it runs: another mode, one more, one less', async () => {
    const running = run([web()], [one]);
    await running.until('web', { state: 'reloaded' });
    const other = sinkConfig(join(place.directory, 'other'), { name: 'other' });
    running.sinks.configure([sinkConfig(place.path, { mode: 0o400 }), other]);
    await running.until('other', { state: 'reloaded' });
    await expect.poll(() => modeOf(join(place.path, 'present'))).toBe('400');
    running.sinks.configure([other]);
    await expect.poll(() => running.sinks.facts().map(({ name }) => name)).toEqual(['other']);
    // A program may still read it: whoever takes a sink away takes its files away too.
    expect(contentAt(place.path)).toMatchObject({ present: tokenText(1) });
  });
});

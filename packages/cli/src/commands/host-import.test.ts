import { describe, expect, it } from 'vitest';
import type { Answers } from '../fake-operator.fixture.ts';
import { transcript } from '../transcript.fixture.ts';

const files = { '/f.csv': { text: 'host,reach,address\nagent-1,,\n\nagent-2,push,10.0.0.2:7444\n' } };
const importHosts: Answers['importHosts'] = (asked) => {
  const { hosts, dryRun } = asked.body as { hosts: { host: string }[]; dryRun: boolean };
  const rows = hosts.map(({ host }) => ({ host, outcome: dryRun ? ('would_add' as const) : ('added' as const) }));
  return { rows, added: dryRun ? 0 : rows.length, refused: 0 };
};
const words = ['host', 'import', '/f.csv'];

describe('rollcall host import', () => {
  it('sends what the file says, and tells each line what came of it', async () => {
    const run = await transcript(words, { answers: { importHosts }, files });
    expect(run.asked[0]?.body).toEqual({
      dryRun: false,
      hosts: [{ host: 'agent-1' }, { host: 'agent-2', reach: 'push', address: '10.0.0.2:7444' }],
    });
    expect(run.exit).toBe(0);
    expect(run.stdout).toMatch(/line 2 +agent-1 +added\nline 4 +agent-2 +added\n\n2 hosts added\./);
    expect(run.stdout).toContain('reenrol HOST');
  });

  it('changes nothing with --dry-run, and says so', async () => {
    const run = await transcript([...words, '--dry-run'], { answers: { importHosts }, files });
    expect(run).toMatchObject({ exit: 0, asked: [{ body: { dryRun: true } }] });
    expect(run.stdout).toContain('2 hosts would be added. Nothing was changed.');
  });

  it('marks every host as existing, and says what is next for those', async () => {
    const run = await transcript([...words, '--existing'], { answers: { importHosts }, files });
    expect(run.asked[0]?.body).toMatchObject({ hosts: [{ existing: true }, { existing: true }] });
    expect(run.stdout).toContain('pin exposure');
  });

  it('takes JSON from standard input', async () => {
    const run = await transcript(['host', 'import', '-', '--json'], {
      answers: { importHosts },
      stdin: '[{"host":"agent-1"}]',
    });
    expect(run).toMatchObject({ exit: 0, json: { added: 1, rows: [{ place: 'entry 1', outcome: 'added' }] } });
  });

  it('exits 1 when a row is refused, with the reason at its line', async () => {
    const refused = {
      rows: [
        { host: 'agent-1', outcome: 'refused' as const, code: 'host_exists', hint: 'Choose another id.' },
        { host: 'agent-2', outcome: 'would_add' as const },
      ],
      added: 0,
      refused: 1,
    };
    const run = await transcript(words, { answers: { importHosts: refused }, files });
    expect(run.exit).toBe(1);
    expect(run.stdout).toMatch(/line 2 +agent-1 +refused +host_exists\n {4}Choose another id\./);
    expect(run.stdout).toContain('1 row refused, so nothing was added.');
    expect(run.stderr).toContain('import_refused');
    const json = await transcript([...words, '--json'], { answers: { importHosts: refused }, files });
    expect(json).toMatchObject({
      exit: 1,
      json: { error: { code: 'import_refused' }, refused: 1, rows: [{ place: 'line 2', code: 'host_exists' }, {}] },
    });
  });

  it('asks nothing when the file itself is wrong, and shows one problem a line', async () => {
    const wrong = { '/f.csv': { text: 'host,colour\na,b\n' } };
    const run = await transcript(words, { answers: { importHosts }, files: wrong });
    expect(run).toMatchObject({ exit: 2, asked: [], stdout: '' });
    expect(run.stderr).toMatch(/host_file_invalid: .*\n {2}problems +line 1: column colour: unknown/);
  });

  it.each([
    ['ENOENT', 'there is no such file'],
    ['EISDIR', 'it is a directory'],
    ['EFBIG', 'more than 1048576 bytes'],
  ])('says why it cannot be read: %s', async (error, reason) => {
    const run = await transcript(words, { answers: { importHosts }, files: { '/f.csv': { error } } });
    expect(run).toMatchObject({ exit: 2, asked: [] });
    expect(run.stderr.replace(/\n +/g, ' ')).toContain(reason);
  });
});

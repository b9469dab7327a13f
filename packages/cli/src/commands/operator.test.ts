import { describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN } from '../answers.fixture.ts';
import { at, transcript } from '../transcript.fixture.ts';

const given = { name: 'ada', role: 'admin' as const, token: OPERATOR_TOKEN };

describe('rollcall operator', () => {
  it.each([
    [['operator', 'add', 'ada', '--role', 'admin'], { addOperator: given }],
    [['operator', 'rotate-token', 'ada'], { rotateOperatorToken: given }],
  ])('%j prints the token once, on a line of its own', async (words, answers) => {
    const { stdout, stderr } = await transcript(words, { answers });
    expect(stdout.split('\n').filter((line) => line.includes(OPERATOR_TOKEN))).toEqual([OPERATOR_TOKEN]);
    expect(stdout).toContain('--token-file');
    expect(stderr).toBe('');
  });

  it('list never shows one', async () => {
    const { stdout } = await transcript(['operator', 'list'], {
      answers: { listOperators: { operators: [{ name: 'ada', role: 'admin', addedAt: at(-7_200) }] } },
    });
    expect(stdout).toMatch(/^NAME +ROLE +ADDED\nada +admin +2 h ago\n$/);
    const none = await transcript(['operator', 'list'], { answers: { listOperators: { operators: [] } } });
    expect(none.stdout).toContain('operator add NAME --role admin');
  });

  it('remove asks first', async () => {
    const answers = { removeOperator: { name: 'ada', role: 'admin' as const, addedAt: at(-7_200) } };
    expect(await transcript(['operator', 'remove', 'ada'], { answers, terminal: ['n'] })).toMatchObject({
      exit: 1,
      asked: [],
    });
    expect(await transcript(['operator', 'remove', 'ada', '--json'], { answers })).toMatchObject({
      exit: 2,
      asked: [],
    });
    expect(await transcript(['operator', 'remove', 'ada', '--yes'], { answers })).toMatchObject({
      exit: 0,
      asked: [{ path: '/v1/operators/ada/remove' }],
    });
  });

  it.each([
    [['operator', 'add', 'Ada', '--role', 'admin']],
    [['operator', 'add', 'ada']],
    [['operator', 'add', 'ada', '--role', 'root']],
    [['operator', 'remove', '../hosts', '--yes']],
  ])('%j is usage', async (words) => {
    const run = await transcript([...words, '--json'], { answers: { addOperator: given } });
    expect(run).toMatchObject({ exit: 2, asked: [], json: { error: { code: 'usage' } } });
  });
});

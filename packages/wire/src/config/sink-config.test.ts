/** What the list of sinks in an agent's configuration takes, and every refusal by line beside what is taken. */
import { isRollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { describe, expect, it } from 'vitest';
import { agentConfigTable, assertAgentConfig, readAgentConfig } from './agent-config.ts';
import { compareConfig } from './compare-config.ts';

const read = (text: string, environment: Readonly<Record<string, string>> = {}) =>
  readAgentConfig({ file: 'agent.yaml', text }, environment).sinks;

function faults(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (!isRollcallError(error, 'config_invalid')) throw error;
    return error.details['problems'];
  }
  return 'accepted';
}

const web = `sinks:
  - name: web
    path: /etc/web/token
    secret: fleet
`;

describe('sinks of an agent', () => {
  it('have what is needed and nothing more, or all of it', () => {
    expect(read(web)).toEqual([{ name: 'web', path: '/etc/web/token', secret: 'fleet', mode: 0o640 }]);
    const whole = `${web}    mode: 0440
    owner: www-data
    group: 33
    reload_pid_file: /run/web.pid
    reload_signal: USR1
  - { name: unit, path: /etc/unit, secret: fleet, mode: "0600", reload_unit: web@1.service, reload_timeout: 500ms }
  - name: command
    path: /etc/command
    secret: other
    reload_command: [/usr/bin/web, "-s", reload]
`;
    expect(read(whole)).toEqual([
      {
        name: 'web',
        path: '/etc/web/token',
        secret: 'fleet',
        mode: 0o440,
        owner: 'www-data',
        group: '33',
        reload: { by: 'signal', pidFile: '/run/web.pid', signal: 'USR1' },
      },
      {
        name: 'unit',
        path: '/etc/unit',
        secret: 'fleet',
        mode: 0o600,
        reload: { by: 'unit', unit: 'web@1.service', timeoutMs: 500 },
      },
      {
        name: 'command',
        path: '/etc/command',
        secret: 'other',
        mode: 0o640,
        reload: { by: 'command', command: ['/usr/bin/web', '-s', 'reload'], timeoutMs: limits.sinkReloadTimeoutMs },
      },
    ]);
    expect(read(`${web}    reload_pid_file: /run/web.pid\n`)?.[0]?.reload).toMatchObject({ signal: 'HUP' });
    expect(read('sinks: []\n')).toEqual([]);
    expect(read('log_level: info\n')).toBeUndefined();
  });

  it('may be given by a variable, which takes the place of those in the file', () => {
    const variable = '[{ name: v, path: /etc/v, secret: fleet }]';
    expect(read(web, { ROLLCALL_SINKS: variable })).toMatchObject([{ name: 'v' }]);
    expect(read('', { ROLLCALL_SINKS: JSON.stringify([{ name: 'v', path: '/etc/v', secret: 'fleet' }]) })).toHaveLength(
      1,
    );
    expect(faults(() => read('', { ROLLCALL_SINKS: '[{ name: v }]' }))).toEqual([
      'ROLLCALL_SINKS:1: sinks.path: is missing',
      'ROLLCALL_SINKS:1: sinks.secret: is missing',
    ]);
    expect(faults(() => read('', { ROLLCALL_SINKS: '' }))).not.toBe('accepted');
  });

  it.each([
    [
      'a mapping',
      'sinks:\n  name: web\n',
      ['agent.yaml:2: sinks: must be a list of at most 16 mappings, each begun with a dash'],
    ],
    ['nothing', 'sinks:\n', [expect.stringContaining('agent.yaml:1: sinks: must be a list')]],
    ['a list of texts', 'sinks: [web]\n', [expect.stringContaining('agent.yaml:1: sinks: must be a list of mappings')]],
    [
      'an unknown key',
      `${web}    colour: red\n`,
      [expect.stringContaining('agent.yaml:5: sinks.colour: unknown; known are group, mode,')],
    ],
    [
      'a key in another form',
      `${web}    reload-unit: a\n`,
      ['agent.yaml:5: sinks.relo…: unknown; did you mean reload_unit?'],
    ],
    [
      'no path and no secret',
      'sinks:\n  - name: web\n',
      ['agent.yaml:2: sinks.path: is missing', 'agent.yaml:2: sinks.secret: is missing'],
    ],
    ['the master', web.replace('fleet', 'master'), [expect.stringContaining('agent.yaml:4: sinks.secret: must be')]],
    [
      'a relative path',
      web.replace('/etc', 'etc'),
      [expect.stringContaining('agent.yaml:3: sinks.path: must be an absolute path')],
    ],
    [
      'a path that climbs',
      web.replace('/etc/web', '/etc/../web'),
      [expect.stringContaining('agent.yaml:3: sinks.path')],
    ],
    [
      'a path with a slash at its end',
      web.replace('token', 'token/'),
      [expect.stringContaining('agent.yaml:3: sinks.path')],
    ],
    ['the root', web.replace('/etc/web/token', '/'), [expect.stringContaining('agent.yaml:3: sinks.path')]],
    ['a long name', web.replace('token', 't'.repeat(201)), [expect.stringContaining('agent.yaml:3: sinks.path')]],
    [
      'a name with a dot',
      web.replace('name: web', 'name: we.b'),
      [expect.stringContaining('agent.yaml:2: sinks.name')],
    ],
    [
      'a mode for others',
      `${web}    mode: 0644\n`,
      [expect.stringContaining('agent.yaml:5: sinks.mode: must be 0640')],
    ],
    ['a mode that the group writes', `${web}    mode: "0660"\n`, [expect.stringContaining('agent.yaml:5: sinks.mode')]],
    ['a mode that nobody reads', `${web}    mode: 0\n`, [expect.stringContaining('agent.yaml:5: sinks.mode')]],
    [
      'the id that leaves the owner',
      `${web}    owner: 4294967295\n`,
      [expect.stringContaining('agent.yaml:5: sinks.owner')],
    ],
    ['a negative id', `${web}    owner: -1\n`, [expect.stringContaining('agent.yaml:5: sinks.owner')]],
    ['an account with a colon', `${web}    group: "a:b"\n`, [expect.stringContaining('agent.yaml:5: sinks.group')]],
    [
      'a signal that ends programs',
      `${web}    reload_pid_file: /p\n    reload_signal: KILL\n`,
      ['agent.yaml:6: sinks.reload_signal: must be one of HUP, USR1, USR2'],
    ],
    [
      'a unit like an option',
      `${web}    reload_unit: --now\n`,
      [expect.stringContaining('agent.yaml:5: sinks.reload_unit')],
    ],
    [
      'a command as a text',
      `${web}    reload_command: /bin/web reload\n`,
      [expect.stringContaining('agent.yaml:5: sinks.reload_command: must be a list of texts')],
    ],
    [
      'a command without its path',
      `${web}    reload_command: [web]\n`,
      [expect.stringContaining('agent.yaml:5: sinks.reload_command')],
    ],
    [
      'a command of numbers',
      `${web}    reload_command: [/bin/web, 1]\n`,
      [expect.stringContaining('agent.yaml:5: sinks.reload_command')],
    ],
    [
      'an empty command',
      `${web}    reload_command: []\n`,
      [expect.stringContaining('agent.yaml:5: sinks.reload_command')],
    ],
    [
      'a timeout without a unit',
      `${web}    reload_unit: a\n    reload_timeout: 10\n`,
      [expect.stringContaining('agent.yaml:6: sinks.reload_timeout: must be a duration')],
    ],
    [
      'no timeout at all',
      `${web}    reload_unit: a\n    reload_timeout: 0s\n`,
      [expect.stringContaining('agent.yaml:6: sinks.reload_timeout')],
    ],
    [
      'an endless timeout',
      `${web}    reload_unit: a\n    reload_timeout: 6m\n`,
      [expect.stringContaining('agent.yaml:6: sinks.reload_timeout')],
    ],
    [
      'two ways to reload',
      `${web}    reload_unit: a\n    reload_command: [/a]\n`,
      [expect.stringContaining('agent.yaml:6: sinks.reload_command: must not stand beside')],
    ],
    [
      'a signal and no pid file',
      `${web}    reload_unit: a\n    reload_signal: HUP\n`,
      ['agent.yaml:6: sinks.reload_signal: only with reload_pid_file'],
    ],
    [
      'a timeout and nothing to wait for',
      `${web}    reload_pid_file: /p\n    reload_timeout: 1s\n`,
      ['agent.yaml:6: sinks.reload_timeout: only with reload_unit or reload_command'],
    ],
    [
      'a name twice',
      `${web}  - { name: web, path: /etc/b, secret: fleet }\n`,
      ['agent.yaml:5: sinks.name: another sink has this name'],
    ],
    [
      'a path twice',
      `${web}  - { name: b, path: /etc/web/token, secret: fleet }\n`,
      [expect.stringContaining('agent.yaml:5: sinks.path: another sink lies there')],
    ],
    [
      'a path within another',
      `${web}  - { name: b, path: /etc/web/token/b, secret: fleet }\n`,
      [expect.stringContaining('agent.yaml:5: sinks.path')],
    ],
    [
      'too many',
      `sinks:\n${'  - { name: a, path: /a, secret: b }\n'.repeat(17)}`,
      [expect.stringContaining('sinks: must be a list of at most 16')],
    ],
    ['a key of an item twice', `${web}    name: b\n`, ['agent.yaml:5: a key stands there twice']],
  ])('with %s are refused, by line', (_, text, problems) => {
    expect(faults(() => read(text))).toEqual(problems);
  });

  it('that lie apart by name only are taken', () => {
    expect(read(`${web}  - { name: b, path: /etc/web/token2, secret: fleet }\n`)).toHaveLength(2);
  });

  it('lie outside the state directory', () => {
    const within = (stateDir: string) => faults(() => assertAgentConfig({ stateDir, sinks: read(web) ?? [] }));
    expect(within('/etc/web')).toEqual([expect.stringContaining('sinks.path: web must lie outside')]);
    expect(within('/etc/web/token/state')).toEqual([expect.stringContaining('sinks.path')]);
    expect(within('/etc/we')).toBe('accepted');
  });

  it('repeat no value when they are refused', () => {
    const secret = 'rcf_Zm9vYmFyYmF6cXV4';
    const texts = [
      `${web}    ${secret}: x\n`,
      `${web}    mode: ${secret}\n`,
      `${web}    reload_command: ${secret}\n`,
      `sinks: ${secret}\n`,
    ];
    for (const text of texts) expect(JSON.stringify(faults(() => read(text)))).not.toContain('Zm9vYmFy');
  });

  it('have changed for a reload when one of them has', () => {
    const running = readAgentConfig({ file: 'f', text: web }, {});
    const same = readAgentConfig({ file: 'f', text: web }, {});
    const other = readAgentConfig({ file: 'f', text: web.replace('token', 'other') }, {});
    expect(compareConfig(agentConfigTable, running, same)).toEqual({ changed: [], needRestart: [] });
    expect(compareConfig(agentConfigTable, running, other)).toEqual({ changed: ['sinks'], needRestart: [] });
  });
});

import { isRollcallError } from '@rollcall/core/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertAgentConfig, readAgentConfig } from './agent-config.ts';
import { environmentName } from './config-file.ts';
import { assertHubConfig, hubConfigTable, readHubConfig } from './hub-config.ts';

function problemsOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (!isRollcallError(error, 'config_invalid')) throw error;
    return error.details['problems'];
  }
  return 'accepted';
}

const hub = (text: string, environment: Readonly<Record<string, string>> = {}) =>
  readHubConfig({ file: 'hub.yaml', text }, environment);
const faults = (text: string, environment: Readonly<Record<string, string>> = {}) =>
  problemsOf(() => hub(text, environment));

const whole = `
# A comment.
dir: /var/lib/rollcall
kek_file: /etc/rollcall/kek
listen: "[::]:7443"
metrics: 127.0.0.1:9464
operators: hub.example.org:7445
beat: 10s
verify_window: 7d
first_use:
  min_age: 24h
log_level: warn
`;

describe('a hub’s configuration', () => {
  it('is read by its table', () => {
    expect(hub(whole)).toEqual({
      dir: '/var/lib/rollcall',
      kekFile: '/etc/rollcall/kek',
      listen: '[::]:7443',
      metrics: '127.0.0.1:9464',
      operators: 'hub.example.org:7445',
      beatMs: 10_000,
      verifyWindowMs: 604_800_000,
      firstUseMinAgeMs: 86_400_000,
      logLevel: 'warn',
    });
    expect(hub('')).toEqual({});
    expect(hub('# nothing yet\n')).toEqual({});
    expect(hub('{ beat: 10s, first_use: { min_age: 1h } }')).toEqual({ beatMs: 10_000, firstUseMinAgeMs: 3_600_000 });
    expect(hub(whole.replaceAll('\n', '\r\n'))).toEqual(hub(whole));
  });

  it('is overridden by the environment, which alone does as well', () => {
    expect(hub(whole, { ROLLCALL_BEAT: '1s', ROLLCALL_FIRST_USE_MIN_AGE: '0s', HOME: '/root' })).toMatchObject({
      beatMs: 1_000,
      firstUseMinAgeMs: 0,
      verifyWindowMs: 604_800_000,
    });
    expect(readHubConfig(undefined, { ROLLCALL_DIR: '/d' })).toEqual({ dir: '/d' });
    expect(readHubConfig(undefined, {})).toEqual({});
  });

  it('has a variable of its own for every key', () => {
    const names = Object.values(hubConfigTable).map(({ key }) => environmentName(key));
    expect(new Set(names).size).toBe(names.length);
    expect(names.every((name) => /^ROLLCALL_[A-Z_]+$/.test(name))).toBe(true);
    // What says where the hub is, for the command line, is another matter.
    expect(names).not.toContain('ROLLCALL_HUB');
  });

  it.each([
    [
      'an unknown key',
      'dir: /d\ncolour: red\n',
      [
        'hub.yaml:2: colour: unknown; known are beat, dir, first_use.min_age, kek_file, listen, log_level, metrics, operators, quiet_window, verify_window',
      ],
    ],
    [
      'a key written another way',
      'verifyWindow: 7d\nkek-file: /k\n',
      ['hub.yaml:1: veri…: unknown; did you mean verify_window?', 'hub.yaml:2: kek-…: unknown; did you mean kek_file?'],
    ],
    [
      'a number without a unit',
      'beat: 10\n',
      ['hub.yaml:1: beat: must be a duration with its unit: 500ms, 10s, 5m, 24h, 7d'],
    ],
    [
      'a unit that there is not',
      'beat: 10 seconds\nverify_window: 2w\n',
      [expect.stringContaining('hub.yaml:1: beat: must'), expect.stringContaining('hub.yaml:2: verify_window: must')],
    ],
    ['no value', 'beat:\n', [expect.stringContaining('hub.yaml:1: beat: must be a duration')]],
    ['a list for a text', 'dir: [/a, /b]\n', ['hub.yaml:1: dir: must be the path of a file or directory']],
    ['a mapping for a text', 'dir:\n  path: /a\n', ['hub.yaml:2: dir: must be the path of a file or directory']],
    ['a text for a section', 'first_use: yes\n', ['hub.yaml:1: first_use: a mapping of keys to values']],
    [
      'an unknown key in a section',
      'first_use:\n  max_age: 1h\n',
      [expect.stringContaining('hub.yaml:2: first_use.max_age: unknown')],
    ],
    [
      'an address without a port',
      'listen: 0.0.0.0\n',
      ['hub.yaml:1: listen: must be HOST:PORT, for example 0.0.0.0:7443'],
    ],
    [
      'a word out of its list',
      'log_level: verbose\n',
      ['hub.yaml:1: log_level: must be one of debug, info, warn, error, silent'],
    ],
    ['a list', '- beat: 10s\n', ['hub.yaml:1: the file: a mapping of keys to values']],
    ['a text', 'beat\n', ['hub.yaml:1: the file: a mapping of keys to values']],
    ['a key twice', 'beat: 1s\nbeat: 2s\n', ['hub.yaml:2: a key stands there twice']],
    [
      'a key in both its forms',
      'first_use.min_age: 1h\nfirst_use:\n  min_age: 2h\n',
      ['hub.yaml:3: first_use.min_age: stands there twice'],
    ],
    [
      'a tab that indents',
      'first_use:\n\tmin_age: 1h\n',
      expect.arrayContaining(['hub.yaml:2: a tab where spaces indent']),
    ],
    ['two documents', 'beat: 1s\n---\nbeat: 2s\n', ['hub.yaml:2: more than one document']],
    [
      'an anchor',
      'beat: &b 10s\nverify_window: *b\n',
      ['hub.yaml:1: anchors and aliases are not taken', 'hub.yaml:2: anchors and aliases are not taken'],
    ],
    ['a merge key', '<<: { beat: 1s }\n', [expect.stringContaining('hub.yaml:1: <<…: unknown')]],
    ['a tag', 'dir: !!binary L2Q=\n', ['hub.yaml:1: tags are not taken']],
    ['a tag of one’s own', 'dir: !env HOME\n', ['hub.yaml:1: tags are not taken']],
    ['an open quote', 'dir: "/a\n', [expect.stringMatching(/^hub\.yaml:\d: not YAML as it is taken here/)]],
    ['a byte-order mark', '\ufeffbeat: 1s\n', ['hub.yaml:1: begins with a byte-order mark; save it without one']],
    ['a NUL', 'beat: 1s\ndir: /a\0b\n', ['hub.yaml:2: a NUL byte; save it as plain text']],
    ['a megabyte', `dir: /${'a'.repeat(1_000_000)}\n`, ['hub.yaml: more than 65536 bytes']],
  ])('with %s is refused, by line', (_, text, problems) => {
    expect(faults(text)).toEqual(problems);
  });

  it('names all that is wrong at once', () => {
    expect(faults('beat: 1\nlisten: x\ncolour: red\n', { ROLLCALL_LOG_LEVEL: 'loud' })).toHaveLength(4);
  });

  it.each([
    ['ROLLCALL_BEAT', '10'],
    ['ROLLCALL_LISTEN', 'nowhere'],
    ['ROLLCALL_LOG_LEVEL', ''],
  ])('of the environment names the variable: %s', (name, value) => {
    expect(faults('', { [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: must be `))]);
  });

  it('takes little time to refuse what is made to take long', () => {
    const bomb = `a: &a [x]\n${Array.from({ length: 26 }, (_, n) => `b${n}: &b${n} [*${n === 0 ? 'a' : `b${n - 1}`}, *${n === 0 ? 'a' : `b${n - 1}`}]`).join('\n')}\n`;
    expect(faults(bomb)).toEqual(expect.arrayContaining(['hub.yaml:1: anchors and aliases are not taken']));
    for (const deep of ['[', '{a: ', '- ', '? '].map((open) => `dir: ${open.repeat(60_000 / open.length)}`)) {
      expect(faults(deep)).not.toBe('accepted');
    }
  });

  it('repeats no value, and of a key that is not known only its beginning', () => {
    const secret = 'rco_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4';
    const texts = [
      `dir: [${secret}]`,
      `${secret}: x`,
      `beat: ${secret}`,
      `first_use: ${secret}`,
      `"${secret}`,
      `- ${secret}`,
      secret,
      `dir: !!${secret} x`,
      `&${secret} dir: x`,
    ];
    for (const text of texts) expect(JSON.stringify(faults(text))).not.toContain('Zm9vYmFy');
    expect(JSON.stringify(faults('', { ROLLCALL_BEAT: secret }))).not.toContain('Zm9vYmFy');
  });

  it('is taken or refused, whatever stands there', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: 'binary' }),
          fc.string().map((value) => `dir: ${value}\nbeat: 1s`),
        ),
        (text) => {
          const outcome = faults(text);
          expect(outcome === 'accepted' || (Array.isArray(outcome) && outcome.length > 0)).toBe(true);
        },
      ),
    );
  });
});

describe('values that contradict each other', () => {
  it.each([
    [{ verifyWindowMs: 1_000, beatMs: 2_000 }, 'verify_window'],
    [{ listen: 'a:1', metrics: 'a:1' }, 'different addresses'],
    [{ metrics: 'a:1', operators: 'a:1' }, 'different addresses'],
    [{ dir: '/d', kekFile: '/d/kek' }, 'outside dir'],
    [{ dir: '/d/', kekFile: '/d/x/kek' }, 'outside dir'],
  ])('of a hub: %j', (config, words) => {
    expect(problemsOf(() => assertHubConfig(config))).toEqual([expect.stringContaining(words)]);
  });

  it.each([
    [{ verifyWindowMs: 2_000, beatMs: 2_000 }],
    [{ listen: 'a:0', metrics: 'a:0' }],
    [{ dir: '/d', kekFile: '/d.kek' }],
    [{}],
  ])('and that do not: %j', (config) => {
    expect(problemsOf(() => assertHubConfig(config))).toBe('accepted');
  });

  it('of an agent', () => {
    expect(problemsOf(() => assertAgentConfig({ enrol: '/t', masterFile: '/m' }))).toHaveLength(1);
    expect(problemsOf(() => assertAgentConfig({ life: 2 }))).toHaveLength(1);
    expect(problemsOf(() => assertAgentConfig({ life: 2, masterFile: '/m' }))).toBe('accepted');
    expect(problemsOf(() => assertAgentConfig({ enrol: '/t' }))).toBe('accepted');
  });
});

describe('an agent’s configuration', () => {
  it('is read by its table', () => {
    const text =
      'state: /s\nhub_url: https://hub:7443\nhost: agent-7\nhub_root_file: /r\nmaster_file: /m\nlife: 3\nlog_level: debug\n';
    expect(readAgentConfig({ file: 'agent.yaml', text }, {})).toEqual({
      stateDir: '/s',
      hub: 'https://hub:7443',
      host: 'agent-7',
      hubRootFile: '/r',
      masterFile: '/m',
      life: 3,
      logLevel: 'debug',
    });
  });

  it.each([
    'host: -x',
    'host: 7',
    'life: 0',
    'life: 1.5',
    'life: "2"',
    'hub_url: http://hub:7443',
    'hub_url: hub:7443',
  ])('refuses %s', (text) => {
    expect(problemsOf(() => readAgentConfig({ file: 'agent.yaml', text }, {}))).toHaveLength(1);
  });
});

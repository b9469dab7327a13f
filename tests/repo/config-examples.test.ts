/** The example files are what the tables say, and every line of them, commented out or not, is taken by the reader. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  agentConfigTable,
  agentExampleOptions,
  hubConfigTable,
  hubExampleOptions,
  readAgentConfig,
  readHubConfig,
  renderConfigExample,
} from '@rollcall/wire';
import { describe, expect, it } from 'vitest';
import { root } from './source-tree.ts';

const rows = [
  ['hub', renderConfigExample(hubConfigTable, hubExampleOptions), hubConfigTable, readHubConfig],
  ['agent', renderConfigExample(agentConfigTable, agentExampleOptions), agentConfigTable, readAgentConfig],
] as const;

describe.each(rows)('deploy/%s.example.yaml', (name, rendered, table, read) => {
  const committed = readFileSync(join(root, 'deploy', `${name}.example.yaml`), 'utf8');
  const source = (text: string) => ({ file: `${name}.example.yaml`, text });

  it('is what the table says (else: npm run docs)', () => {
    expect(committed).toBe(rendered);
  });

  it('is a configuration as it stands', () => {
    expect(Object.keys(read(source(committed), {})).length).toBeGreaterThan(0);
  });

  it('has every key, each in a form that is taken', () => {
    // `#key: value` and, for a section, the line below it.
    const blocks = committed.split('\n\n').slice(1);
    const keys = blocks.map((block) => {
      const text = block.replace(/^# \S.*\n/gm, '').replace(/^#/gm, '');
      // Beside a master a life is taken, and a token is not.
      const alone = /^life:/.test(text) ? `${text}\nmaster_file: /m\n` : text;
      return Object.keys(read(source(alone), {}))[0];
    });
    expect(keys.sort()).toEqual(Object.keys(table).sort());
  });

  it('says which keys a running program takes anew', () => {
    const live = Object.values(table).filter((row) => row.isLive).length;
    expect(committed.match(/SIGHUP/g)).toHaveLength(live);
  });
});

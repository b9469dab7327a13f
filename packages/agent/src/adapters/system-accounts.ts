/** Names of users and groups as the system knows them: its files first, then whatever else it asks (nsswitch.conf). */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Accounts } from '../sinks/ports.ts';

export const systemAccounts: Accounts = {
  userId: (name) => idOf('passwd', name),
  groupId: (name) => idOf('group', name),
};

type Database = 'passwd' | 'group';

async function idOf(database: Database, name: string): Promise<number | undefined> {
  const text = await readFile(`/etc/${database}`, 'utf8').catch(() => '');
  return idIn(text, name) ?? idIn(await ask(database, name), name);
}

/** passwd(5) and group(5) alike: the name first, the number third. */
function idIn(text: string, name: string): number | undefined {
  const fields = text.split('\n').map((line) => line.split(':'));
  const id = fields.find(([known]) => known === name)?.[2] ?? '';
  return /^\d{1,10}$/.test(id) ? Number(id) : undefined;
}

function ask(database: Database, name: string): Promise<string> {
  return new Promise((resolve) => {
    const options = { timeout: ASK_MS, env: {}, encoding: 'utf8' } as const;
    execFile('/usr/bin/getent', [database, name], options, (_error, stdout) => resolve(stdout));
  });
}

const ASK_MS = 5_000;

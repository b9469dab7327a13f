/**
 * Every command of the README and the guides, run as it stands there, in order, against real processes; and what they print, held
 * against what the page shows. `ROLLCALL_WRITE_DOCS=1` writes what was printed into the pages instead.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './harness/child.ts';
import { createDocumentWorld, type DocumentWorld } from './harness/document-world.ts';
import { type Block, readBlocks, readMentions } from './harness/documents.ts';
import { comparePrinted, shorten } from './harness/printed.ts';

const guides = readdirSync(join(root, 'docs/guides')).map((file) => `docs/guides/${file}`);
const documents = ['README.md', ...guides];
const isWriting = process.env['ROLLCALL_WRITE_DOCS'] === '1';

test.each(documents)('%s does what it says', { timeout: 300_000 }, async (path) => {
  await follow(join(root, path), isWriting);
});

test('no document of ours has a block that is marked as not to be run', () => {
  const notRun = documents.flatMap((path) => readBlocks(read(path)).filter((block) => block.notRun !== undefined));
  expect(notRun).toEqual([]);
});

describe('a document that is wrong', () => {
  test.each([
    ['an unknown noun', '```sh\nrollcall hosts list\n```'],
    ['an unknown verb', '```sh\nrollcall host frobnicate\n```'],
    ['an unknown flag', '```sh\nrollcall demo --nonsense\n```'],
    ['another exit code', '<!-- run: exit 3 -->\n```sh\nrollcall --version\n```'],
    ['a command that fails before the last', '```sh\nrollcall nothing\nrollcall --version\n```'],
    ['another output', '```sh\nrollcall --version\n```\n\n```text\nv0.1\n```'],
    ['a mark that is not understood', '<!-- run: perhaps -->\n```sh\nrollcall --version\n```'],
    ['a placeholder that nobody explains', '```sh\nrollcall pin show FULL\n```'],
  ])('is caught: %s', async (_what, text) => {
    await expect(followText(text)).rejects.toThrow();
  });

  test.each([
    ['as it is', '```sh\nrollcall --version\n```\n\n```text\n0.1.0\n```'],
    ['with an exit code', '<!-- run: exit 2 -->\n```sh\nrollcall --version > /dev/null\nrollcall hosts\n```'],
    ['with a variable that lasts', '```sh\nexport X=1\n```\n\n```sh\ntest "$X" = 1\n```'],
  ])('and its control passes: %s', async (_what, text) => {
    await followText(text);
  });
});

describe('commands that are named in passing', () => {
  const pages = [
    ...documents,
    'SECURITY.md',
    'docs/ARCHITECTURE.md',
    'docs/INVARIANTS.md',
    'docs/HACKING.md',
    'docs/PROTOCOL.md',
  ];
  const mentions = [...new Set(pages.flatMap((path) => readMentions(read(path))))];

  test('exist, with their flags', { timeout: 120_000 }, async () => {
    const world = await createDocumentWorld();
    try {
      const help = createHelp(world);
      const wrong: string[] = [];
      for (const mention of mentions) if (!(await isKnown(help, mention))) wrong.push(mention);
      expect(wrong).toEqual([]);
      expect(await isKnown(help, 'rollcall host add agent-1 --reach pull')).toBe(true);
      expect(await isKnown(help, 'rollcall host add agent-1 --force')).toBe(false);
      expect(await isKnown(help, 'rollcall host frobnicate')).toBe(false);
    } finally {
      await world.close();
    }
  });
});

test('the hub serves docs/openapi.json', async () => {
  const world = await createDocumentWorld();
  try {
    await world.run(readBlocks('<!-- run: hub -->\n```sh\nrollcall hub status\n```')[0] as Block);
    const served = await get(join(world.dir, 'hub/operator.sock'), '/v1/openapi.json');
    expect(JSON.parse(served)).toEqual(JSON.parse(read('docs/openapi.json')));
  } finally {
    await world.close();
  }
});

/** Runs all of a document, and rewrites what it shows as printed when that was asked for. */
async function follow(path: string, rewrites: boolean): Promise<void> {
  const text = readFileSync(path, 'utf8');
  let world = await createDocumentWorld();
  const pieces: string[] = [];
  let from = 0;
  try {
    for (const block of readBlocks(text)) {
      if (block.fleet !== undefined) {
        await world.close();
        world = await createDocumentWorld();
      }
      const printed = await world.run(block);
      if (block.printed === undefined) continue;
      if (!rewrites) comparePrinted(block.printed, printed, block.steps[0]?.line ?? 0);
      pieces.push(text.slice(from, block.printedAt[0]), shorten(printed, block.printed));
      from = block.printedAt[1];
    }
  } finally {
    await world.close();
  }
  if (rewrites) writeFileSync(path, `${pieces.join('')}${text.slice(from)}`);
}

async function followText(text: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'rc-page-'));
  try {
    writeFileSync(join(dir, 'page.md'), text);
    await follow(join(dir, 'page.md'), false);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

type Help = (path: string) => Promise<string>;

/** What `rollcall PATH --help` prints, asked for once; nothing where there is no such command. */
function createHelp(world: DocumentWorld): Help {
  const known = new Map<string, Promise<string>>();
  return (path) => {
    const [block] = readBlocks(`\`\`\`sh\nrollcall ${path} --help\n\`\`\``) as [Block];
    const help = known.get(path) ?? world.run(block).catch(() => '');
    known.set(path, help);
    return help;
  };
}

/** By its help: the words that name it, and each of its flags. */
async function isKnown(help: Help, mention: string): Promise<boolean> {
  const words = mention.split(' ');
  const path = words
    .slice(1, 3)
    .filter((word) => /^[a-z][a-z-]*$/.test(word))
    .join(' ');
  const text = await help(path);
  const flags = words.filter((word) => word.startsWith('--')).map((word) => word.replace(/[=.,;].*$/, ''));
  const isItsOwn = path === '' || text.includes(`rollcall ${path}`);
  return isItsOwn && flags.every((flag) => new RegExp(`(?:^|\\s)${flag}(?:\\s|$)`, 'm').test(text));
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function get(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk;
      });
      response.on('end', () => resolve(body));
    });
    sent.once('error', reject);
    sent.end();
  });
}

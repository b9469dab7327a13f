/**
 * Where the commands of one document run: a directory of their own, a shell in which `rollcall` is the command, and an
 * environment that lasts from one command to the next. `rollcall hub start` and `rollcall agent start` go on in the
 * background, as in a terminal of their own, and the next command waits until they answer. Two things are replaced: ports from
 * 7400 to 7499 by free ones, and `npm start -- FLAGS` by what package.json says that it runs.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddHostAnswer, AgentStatusAnswer } from '@rollcall/wire';
import { mainFile, root } from './child.ts';
import type { Block, Step } from './documents.ts';
import { exchange } from './exchange.ts';
import { freePort } from './fleet.ts';
import { isAsShown } from './printed.ts';
import { createRecorder } from './recorder.ts';
import { sleep, waitUntil } from './wait-until.ts';

export interface DocumentWorld {
  readonly dir: string;
  /** Runs the block, and returns what its commands printed; throws where one ended otherwise than it says. */
  readonly run: (block: Block) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Where a reader is imagined to be. */
const SHOWN_DIR = '/srv/rollcall';
const SHOWN_PORTS = /:(74\d\d)\b/g;
/** For a hub: its default is the port after 7443's, which somebody else may have here. */
const ANY_METRICS_PORT = ' --metrics 127.0.0.1:0';
const PATIENCE_MS = 60_000;
const STEP_MS = 120_000;
const PRIVATE = { mode: 0o600 } as const;

export async function createDocumentWorld(): Promise<DocumentWorld> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'rc-docs-')));
  const ports = new Map<string, string>();
  const inside = join(dir, '.shell');
  mkdirSync(inside);
  writeFileSync(join(inside, 'rollcall'), `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`, {
    mode: 0o755,
  });
  const running = new Map<string, Background>();

  const shell = (command: string): ChildProcess =>
    spawn('/bin/sh', ['-c', `if [ -e .shell/env ]; then . .shell/env; fi\n${command}`], {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: `${inside}:${process.env['PATH'] ?? ''}`, HOME: dir, NO_COLOR: '1' },
    });

  const run = async (command: string): Promise<Ran> =>
    ended(shell(`${command}\nend=$?\nexport -p > .shell/env\nexit $end`));

  const toReal = async (text: string): Promise<string> => {
    for (const [, shown = ''] of text.matchAll(SHOWN_PORTS)) {
      if (!ports.has(shown)) ports.set(shown, String(await freePort()));
    }
    return text.replaceAll(SHOWN_PORTS, (_all, shown: string) => `:${ports.get(shown)}`).replaceAll(SHOWN_DIR, dir);
  };

  const toShown = (text: string): string =>
    [...ports].reduce(
      (shown, [port, real]) => shown.replaceAll(`:${real}`, `:${port}`),
      text.replaceAll(dir, SHOWN_DIR),
    );

  const replace = async (step: Step): Promise<string> => {
    const command = (await toReal(step.command)).replace(/^npm start(?: --)?/, () => npmStart());
    if (!/\bFULL\b/.test(command)) return command;
    if (step.fullOf === undefined) throw new Error(`line ${step.line}: what does FULL stand for?`);
    const { stdout } = await run(`rollcall agent status --state ${step.fullOf} --json`);
    return command.replaceAll(/\bFULL\b/g, (JSON.parse(stdout) as { fingerprint: string }).fingerprint);
  };

  const runInBackground = async (step: Step, command: string): Promise<void> => {
    const place = /--(?:dir|state) (\S+)/.exec(command)?.[1] ?? '';
    const isHub = command.startsWith('rollcall hub ');
    if (running.has(place)) throw new Error(`line ${step.line}: something runs on ${place} already`);
    const background = createBackground(shell(`exec ${command}${isHub ? ANY_METRICS_PORT : ''}`));
    running.set(place, background);
    const answers = isHub ? () => isHubThere(place) : () => isAgentThere(place);
    const story = () => background.stderr().slice(-3_000);
    const what = `line ${step.line}: ${command}`;
    await waitUntil(`${what} answers`, () => background.hasEnded() || answers(), { withinMs: PATIENCE_MS, story });
    if (background.hasEnded()) throw new Error(`${what} has ended:\n${story()}`);
  };

  const ask = (socket: string, path: string, body?: unknown) =>
    exchange(
      { socket: join(dir, socket) },
      {
        method: body === undefined ? 'GET' : 'POST',
        path,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      createRecorder(),
    );

  const isHubThere = async (place: string) => (await ask(`${place}/operator.sock`, '/v1/status')).status === 200;

  const isAgentThere = async (place: string) =>
    (await ask(`${place}/agent.sock`, '/v1/status')).json<AgentStatusAnswer>().lastAnswerAt !== null;

  /** `fits`: whether what a refused command printed is what is waited for. */
  const runStep = async (step: Step, fits: (printed: string) => boolean = () => true): Promise<string> => {
    const command = await replace(step);
    if (isBackground(command) && step.exit === 0) {
      await runInBackground(step, command);
      return '';
    }
    const isAsWanted = ({ code, both }: Ran) => code === step.exit && (code === 0 || fits(toShown(both)));
    let ran = await run(command);
    for (const end = Date.now() + PATIENCE_MS; step.isWaitedFor && !isAsWanted(ran) && Date.now() < end; ) {
      await sleep(300);
      ran = await run(command);
    }
    if (ran.code !== step.exit)
      throw new Error(`line ${step.line}: ${command}\nended with ${ran.code}, not ${step.exit}:\n${ran.both}`);
    return ran.both;
  };

  const stop = async (place: string): Promise<void> => {
    const background = running.get(place);
    if (background === undefined) throw new Error(`nothing runs on ${place}`);
    running.delete(place);
    await background.stop();
  };

  /** The first minutes of every fleet, as the README tells them. Where that needs no command line, without one. */
  const begin = async (hosts: readonly string[]): Promise<void> => {
    const type = (command: string) =>
      runStep({ command, line: 0, exit: 0, isWaitedFor: false, extraFlags: '', fullOf: undefined });
    await type('rollcall hub init --dir ./hub --listen 127.0.0.1:7443 > /dev/null');
    await type('rollcall hub start --dir ./hub --beat 300ms --first-use-min-age 1ms --quiet-window 8s');
    await type('export ROLLCALL_HUB=unix:./hub/operator.sock');
    if (hosts.length > 0) await ask('hub/operator.sock', '/v1/secrets', { name: 'master' });
    const enrol = async (host: string): Promise<void> => {
      const { token } = (await ask('hub/operator.sock', '/v1/hosts', { host })).json<AddHostAnswer>();
      writeFileSync(join(dir, `${host}.token`), `${token}\n`, PRIVATE);
      await type(`rollcall agent start --state ./${host} --enrol ./${host}.token`);
    };
    await Promise.all(hosts.map(enrol));
  };

  return {
    dir,
    run: async ({ steps, stops, fleet, given, file, tokenTo, notRun, printed: shown }) => {
      if (fleet !== undefined) await begin(fleet);
      for (const place of stops) await stop(place);
      for (const name of given) writeFileSync(join(dir, name), `${randomBytes(48).toString('base64')}\n`, PRIVATE);
      if (file !== undefined) writeFileSync(join(dir, file.path), await toReal(file.text), PRIVATE);
      if (notRun !== undefined) return '';
      const printed: string[] = [];
      for (const step of steps) {
        const fits = (last: string) =>
          shown === undefined || isAsShown(shown, [...printed.map(toShown), last].join(''));
        printed.push(await runStep(step, fits));
      }
      if (tokenTo !== undefined) writeFileSync(join(dir, tokenTo), `${findToken(printed.join(''))}\n`, PRIVATE);
      return toShown(printed.join('')).trimEnd();
    },
    close: async () => {
      for (const background of running.values()) await background.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function findToken(printed: string): string {
  const token = /^rc[a-z]_\S+$/m.exec(printed)?.[0];
  if (token === undefined) throw new Error(`no token was printed:\n${printed}`);
  return token;
}

/** The rule by which a command goes on in the background. */
export function isBackground(command: string): boolean {
  return /^rollcall (?:hub|agent) start\b(?!.* --help)/.test(command);
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  /** Standard output and error as a terminal shows them. */
  readonly both: string;
}

function ended(child: ChildProcess): Promise<Ran> {
  let [stdout, both] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk;
    both += chunk;
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    both += chunk;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), STEP_MS);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, both });
    });
  });
}

interface Background {
  readonly hasEnded: () => boolean;
  readonly stderr: () => string;
  readonly stop: () => Promise<void>;
}

function createBackground(child: ChildProcess): Background {
  let stderr = '';
  let isOver = false;
  child.stdout?.resume();
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const over = new Promise<void>((resolve) => {
    child.once('close', () => {
      isOver = true;
      resolve();
    });
  });
  return {
    hasEnded: () => isOver,
    stderr: () => stderr,
    stop: async () => {
      child.kill('SIGTERM');
      await over;
    },
  };
}

/** Without its bootstrap, which a test must not run. */
function npmStart(): string {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const [program = '', file = '', ...rest] = (scripts['start'] ?? '').split(' ');
  if (program !== 'node') throw new Error('npm start does not run node');
  return [process.execPath, join(root, file), ...rest].join(' ');
}

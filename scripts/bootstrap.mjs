#!/usr/bin/env node
/**
 * Installs and builds what is missing, and nothing twice: `node scripts/bootstrap.mjs [ROOT]`. Runs before `npm start`
 * and `npm test`, so it depends on nothing but Node and npm. Several may run at once; one works, the others wait.
 */
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..'));
const state = join(root, '.bootstrap');
const lock = join(state, 'lock');

/** Lies in what it describes: whoever removes node_modules removes it too. */
const installStamp = join(root, 'node_modules', '.rollcall-installed');
const buildStamp = join(state, 'built');

const TOUCH_MS = 1_000;
/** A lock whose owner is gone is stale when it was not touched for this long: an owner in another container has no pid here. */
const GONE_MS = 4_000;
/** A lock whose pid lives is stale after this: the pid may be another process's by now. */
const SILENT_MS = 60_000;

/** No sources. */
const SKIPPED = new Set(['node_modules', 'dist']);

/** The npm that works for us, so that whoever stops this stops that too. */
let running;

try {
  await main();
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}

async function main() {
  assertNodeVersion();
  if (isReady()) return;
  const release = await acquireLock();
  try {
    // Judged again: whoever held the lock may have done it all.
    if (!isInstalled()) await install();
    if (!isBuilt()) await build();
  } finally {
    release();
  }
}

function assertNodeVersion() {
  const wanted = /^>=(\d+)\.(\d+)$/.exec(readPackage().engines?.node ?? '');
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (wanted === null || major > Number(wanted[1]) || (major === Number(wanted[1]) && minor >= Number(wanted[2])))
    return;
  throw new Error(`Rollcall needs Node ${wanted[0]}; this is ${process.versions.node}.`);
}

function isReady() {
  return isInstalled() && isBuilt();
}

function isInstalled() {
  return readText(installStamp) === installKey();
}

function isBuilt() {
  return readText(buildStamp) === sourcesKey() && builtProjects().every((project) => exists(join(project, 'dist')));
}

async function install() {
  say('installing dependencies (where no binary of better-sqlite3 can be fetched it is compiled: about 75 s) …');
  const key = installKey();
  await runNpm(['ci', '--include=dev', '--no-audit', '--no-fund'], 'install.log');
  writeFileSync(installStamp, key);
  rmSync(buildStamp, { force: true });
}

async function build() {
  say('building …');
  // Taken before: what changes meanwhile is built the next time.
  const key = sourcesKey();
  await runNpm(['run', '--silent', 'build'], 'build.log');
  writeFileSync(buildStamp, key);
}

/** What an install depends on: the lockfile, and the platform that native code was compiled for. */
function installKey() {
  const { node, modules } = process.versions;
  const platform = `${process.platform} ${process.arch} node ${node.split('.')[0]} abi ${modules}\n`;
  return createHash('sha256')
    .update(platform)
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

/** What a build depends on: every source and configuration file, by content, and the install that compiles them. */
function sourcesKey() {
  const hash = createHash('sha256').update(readText(installStamp) ?? '');
  for (const path of sourceFiles()) hash.update(`\0${path.slice(root.length)}\0`).update(readFileSync(path));
  return hash.digest('hex');
}

function sourceFiles() {
  const top = readdirSync(root).filter((name) => /^(tsconfig.*|package)\.json$/.test(name));
  const files = top.map((name) => join(root, name));
  for (const folder of ['packages', 'bench']) walk(join(root, folder), files);
  return files.sort();
}

function walk(folder, files) {
  for (const entry of exists(folder) ? readdirSync(folder, { withFileTypes: true }) : []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) walk(path, files);
    else if (entry.isFile() && !/\.(test|fixture)\.tsx?$/.test(entry.name)) files.push(path);
  }
}

/** The projects that `tsc -b` builds, by the references of the root's tsconfig.json. */
function builtProjects() {
  const text = readText(join(root, 'tsconfig.json'));
  return text === undefined ? [] : (JSON.parse(text).references ?? []).map(({ path }) => join(root, path));
}

async function runNpm(args, logName) {
  const logPath = join(state, logName);
  const log = openSync(logPath, 'w');
  const startedMs = Date.now();
  running = spawn('npm', args, { cwd: root, stdio: ['ignore', log, log] });
  const code = await new Promise((done) => {
    running.on('error', (error) => done(error.message));
    running.on('exit', (status, signal) => done(status ?? signal));
  });
  if (code !== 0) {
    const tail = (readText(logPath) ?? '').trimEnd().split('\n').slice(-40).join('\n');
    throw new Error(`\`npm ${args.join(' ')}\` failed (${code}):\n${tail}`);
  }
  say(`done in ${Math.round((Date.now() - startedMs) / 1000)} s`);
}

/** Holds the lock, or waits for it. The returned function gives it back. */
async function acquireLock() {
  mkdirSync(state, { recursive: true });
  const token = `${process.pid} ${randomUUID()}`;
  for (let waited = false; !tryLock(lock, token); waited = true) {
    if (!waited) say(`waiting for another run (${holder(lock) ?? 'starting'}) …`);
    removeIfStale();
    await sleep(200);
  }
  const touching = setInterval(() => touch(lock), TOUCH_MS);
  touching.unref();
  const release = () => {
    clearInterval(touching);
    if (holder(lock) === token) rmSync(lock, { recursive: true, force: true });
  };
  // A second Ctrl-C finds nothing to give back.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      running?.kill(signal);
      release();
      process.exit(1);
    });
  }
  return release;
}

/** `mkdir` is the one act that only one of many can succeed at. */
function tryLock(path, token) {
  try {
    mkdirSync(path);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(join(path, 'pid'), token);
  return true;
}

/**
 * Removes a lock that nobody holds. Only under a second lock, and judged again there: else two that both saw a stale lock
 * would remove it one after the other, and the second would remove the lock that the first had just taken.
 */
function removeIfStale() {
  if (!isStale(lock)) return;
  const guard = join(state, 'lock.removing');
  if (!tryLock(guard, String(process.pid))) {
    if ((ageMs(guard) ?? 0) > SILENT_MS) rmSync(guard, { recursive: true, force: true });
    return;
  }
  if (isStale(lock)) rmSync(lock, { recursive: true, force: true });
  rmSync(guard, { recursive: true, force: true });
}

function isStale(path) {
  const age = ageMs(path);
  if (age === undefined) return false;
  const pid = Number(holder(path)?.split(' ')[0]);
  return age > SILENT_MS || (age > GONE_MS && !isAlive(pid));
}

function isAlive(pid) {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function holder(path) {
  return readText(join(path, 'pid'));
}

function touch(path) {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // Taken away by someone who judged it stale; that the work goes on is harmless, both do the same.
  }
}

/** How long ago it was touched; a time in the future counts as now. */
function ageMs(path) {
  try {
    return Math.max(0, Date.now() - statSync(path).mtimeMs);
  } catch {
    return undefined;
  }
}

function readPackage() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function exists(path) {
  return ageMs(path) !== undefined;
}

function say(text) {
  console.error(`rollcall: ${text}`);
}

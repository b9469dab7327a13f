/**
 * The real clock, timers and randomness, trapped while a run goes on: shipped code that reaches for one of them instead of
 * its port fails the run by name. The scheduler has taken its own before.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { Violation } from './scheduler.ts';

let sprung: string | undefined;

/** The name of what was reached for since the last call, if anything was. */
export function takeSprungTrap(): string | undefined {
  const name = sprung;
  sprung = undefined;
  return name;
}

export function setTraps(): void {
  const globals = globalThis as unknown as Record<string, unknown>;
  for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'fetch']) globals[name] = trap(name);
  Object.assign(Math, { random: trap('Math.random') });
  Object.assign(performance, { now: trap('performance.now') });
  Object.assign(process, { hrtime: trap('process.hrtime') });
  for (const name of ['randomBytes', 'randomFillSync', 'randomInt', 'randomUUID', 'generateKeyPairSync'] as const) {
    Object.assign(crypto, { [name]: trap(`crypto.${name}`) });
  }
  syncBuiltinESMExports();
  globals['Date'] = new Proxy(Date, {
    construct: (target, args) => {
      if (args.length > 0) return new target(...(args as [number]));
      // A structure of a library has dates that it is filled with before anyone reads them.
      return callerIsALibrary() ? new target(0) : spring('new Date()');
    },
    apply: trap('Date()'),
    get: (target, name) => (name === 'now' ? trap('Date.now') : Reflect.get(target, name)),
  });
}

function trap(name: string): () => never {
  return () => spring(name);
}

function spring(name: string): never {
  sprung ??= `${name} ${caller()}`;
  throw new Violation('real-world', `${name} was reached for, beside the port`);
}

function callerIsALibrary(): boolean {
  return caller().includes('/node_modules/');
}

/** The first place in the stack that is not of this file. */
function caller(): string {
  const frames = (new Error('here').stack ?? '').split('\n').slice(1);
  return frames.find((frame) => !frame.includes('/engine/traps.'))?.trim() ?? '';
}

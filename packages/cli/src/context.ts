/** What a verb is given when it runs, from the options that every verb takes. */
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { parseInstant } from '@rollcall/core/time';
import { routes } from '@rollcall/wire';
import { createHubClient, type HubConnection } from './client.ts';
import { type GivenAddress, resolveHubAddress } from './hub-address.ts';
import { authorization, type HubCredentials, readHubCredentials } from './hub-credentials.ts';
import { createStyle } from './output/style.ts';
import type { Io, OutputStream } from './ports.ts';
import type { Context, GlobalOptions } from './verb.ts';

export function createContext(io: Io, global: GlobalOptions): Context {
  const progress = (line: string) => {
    if (global.quiet !== true) io.stderr.write(`${line}\n`);
  };
  // Standard input, which a token may come from, is read once.
  const credentials = once(() => readHubCredentials({ io, global, progress }));
  const hub: Context['hub'] = (where = {}) => {
    const address = resolveHubAddress({ hub: global.hub, dir: where.dir }, io.env);
    return createHubClient({
      connection: () => connectionTo(address, credentials),
      actor: io.user,
      version: io.version,
      send: io.send,
      clock: io.clock,
    });
  };
  const nowMs = io.clock.now();
  return {
    io,
    global,
    view: { width: pageWidth(io.stdout), style: createStyle(io.stdout, io.env, global), nowMs },
    hub,
    hubTimeMs: async () => {
      if (resolveHubAddress({ hub: global.hub }, io.env).kind === 'socket') return nowMs;
      return parseInstant((await hub().call(routes.hubStatus)).time);
    },
    progress,
    confirm: (question, options) => confirm(io, question, options),
  };
}

async function connectionTo(address: GivenAddress, read: () => Promise<HubCredentials>): Promise<HubConnection> {
  if (address.kind === 'socket') return { to: address, headers: {} };
  const credentials = await read();
  return { to: { ...address, spki: credentials.spki }, headers: { authorization: authorization(credentials) } };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Pages are made for 80 columns; a terminal may be wider, and a narrower one wraps by itself. */
function pageWidth(stream: OutputStream): number {
  return Math.max(limits.outputColumns, stream.columns ?? 0);
}

async function confirm(io: Io, question: string, options: { readonly yes?: boolean }): Promise<void> {
  if (options.yes === true) return;
  if (!io.stdin.isTerminal || !io.stderr.isTerminal) throw new RollcallError('confirmation_required');
  const answer = await io.stdin.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new RollcallError('not_confirmed');
}

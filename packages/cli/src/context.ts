/** What a verb is given when it runs, from the options that every verb takes. */
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { createHubClient } from './client.ts';
import { resolveOperatorSocket } from './hub-address.ts';
import { createStyle } from './output/style.ts';
import type { Io, OutputStream } from './ports.ts';
import type { Context, GlobalOptions } from './verb.ts';

export function createContext(io: Io, global: GlobalOptions): Context {
  return {
    io,
    global,
    view: { width: pageWidth(io.stdout), style: createStyle(io.stdout, io.env, global), nowMs: io.clock.now() },
    hub: (where = {}) =>
      createHubClient({
        socketPath: resolveOperatorSocket({ hub: global.hub, dir: where.dir }, io.env),
        actor: io.user,
        version: io.version,
        send: io.send,
        clock: io.clock,
      }),
    progress: (line) => {
      if (global.quiet !== true) io.stderr.write(`${line}\n`);
    },
    confirm: (question, options) => confirm(io, question, options),
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

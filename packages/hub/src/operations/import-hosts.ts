/** Many hosts at once: every row is judged and reported, and all are taken or none is (design 8). */
import { RollcallError } from '@rollcall/core/errors';
import type { AddHostBody, ImportHostsAnswer, ImportHostsBody } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import type { Actor } from '../store/audit.ts';
import type { Tx } from '../store/schema.ts';
import { putOnRoll } from './add-host.ts';

type Row = ImportHostsAnswer['rows'][number];

export async function importHosts(hub: Hub, body: ImportHostsBody, actor: Actor): Promise<ImportHostsAnswer> {
  const rows: Row[] = [];
  try {
    await hub.db.transaction().execute(async (tx) => {
      for (const host of body.hosts) rows.push(await judge(hub, tx, host, actor));
      if (body.dryRun || rows.some((row) => row.outcome === 'refused')) throw new NothingKept();
    });
  } catch (error) {
    if (!(error instanceof NothingKept)) throw error;
    const kept: Row[] = rows.map((row) => (row.outcome === 'added' ? { ...row, outcome: 'would_add' } : row));
    return summary(kept);
  }
  await hub.roll.reloadAll();
  return summary(rows);
}

/** Ends the transaction without a trace. */
class NothingKept extends Error {}

async function judge(hub: Hub, tx: Tx, host: ImportHostsBody['hosts'][number], actor: Actor): Promise<Row> {
  try {
    if (host.reach !== undefined && host.reach !== 'push' && host.reach !== 'pull') {
      throw new RollcallError('malformed_request', { what: 'reach' });
    }
    await putOnRoll(hub, tx, host as AddHostBody, actor);
    return { host: host.host, outcome: 'added' };
  } catch (error) {
    if (!(error instanceof RollcallError)) throw error;
    return { host: host.host, outcome: 'refused', code: error.code, hint: error.row.hint };
  }
}

function summary(rows: readonly Row[]): ImportHostsAnswer {
  const count = (outcome: Row['outcome']) => rows.filter((row) => row.outcome === outcome).length;
  return { rows: [...rows], added: count('added'), refused: count('refused') };
}

/** Many hosts at once: every row is judged and reported, and all are taken or none is (design 8). */

import { RollcallError } from '@rollcall/core/errors';
import type { AddHostBody, ImportHostsAnswer, ImportHostsBody } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { refresh } from '../refresh.ts';
import type { Actor } from '../store/audit.ts';
import type { HostRecord } from '../store/hosts.ts';
import { type JudgeNewHost, prepareJudge, putOnRoll } from './put-on-roll.ts';

type Row = ImportHostsAnswer['rows'][number];

export async function importHosts(hub: Hub, body: ImportHostsBody, actor: Actor): Promise<ImportHostsAnswer> {
  const rows = await hub.db.transaction().execute(async (tx) => {
    const judge = await prepareJudge(
      hub,
      tx,
      body.hosts.map(({ host }) => host),
    );
    const judged = body.hosts.map((row) => ({ host: row.host, ...outcomeOf(judge, row) }));
    const hosts = judged.flatMap(({ taken }) => taken ?? []);
    const isKept = !body.dryRun && hosts.length === judged.length;
    if (isKept) await putOnRoll(hub, tx, hosts, actor);
    return judged.map(({ host, refusal }): Row => {
      return refusal === undefined
        ? { host, outcome: isKept ? 'added' : 'would_add' }
        : { host, outcome: 'refused', code: refusal.code, hint: refusal.row.hint };
    });
  });
  await refresh(hub);
  return summary(rows);
}

function outcomeOf(
  judge: JudgeNewHost,
  row: ImportHostsBody['hosts'][number],
): { readonly taken?: HostRecord; readonly refusal?: RollcallError } {
  try {
    if (row.reach !== undefined && row.reach !== 'push' && row.reach !== 'pull') {
      throw new RollcallError('malformed_request', { what: 'reach' });
    }
    return { taken: judge(row as AddHostBody) };
  } catch (error) {
    if (error instanceof RollcallError) return { refusal: error };
    throw error;
  }
}

function summary(rows: readonly Row[]): ImportHostsAnswer {
  const count = (outcome: Row['outcome']) => rows.filter((row) => row.outcome === outcome).length;
  return { rows: [...rows], added: count('added'), refused: count('refused') };
}

import { beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, createTestVault, operator } from '../hub.fixture.ts';
import { type Actor, type AuditFilter, appendAudit, listAudit } from './audit.ts';
import { insertRotation } from './rotations.ts';
import type { Db } from './schema.ts';

const host: Actor = { id: 'agent-7', kind: 'host', rung: 'derived', verified: true };
let db: Db;

beforeEach(async () => {
  ({ db } = await createTestDatabase());
  const rows = [
    [1_000, operator, 'host.added', 'agent-7', 'done'],
    [2_000, host, 'pin.taken', 'agent-7', 'done'],
    [3_000, host, 'pin.challenged', 'agent-8', 'refused'],
    [4_000, operator, 'pin', 'agent-8', 'done'],
    [5_000, operator, 'pinning.begun', 'agent-8', 'done'],
    [6_000, operator, 'p_n.taken', 'agent-8', 'refused'],
  ] as const;
  await db.transaction().execute(async (tx) => {
    for (const [at, actor, action, target, outcome] of rows)
      await appendAudit(tx, { at, actor, action, target, outcome });
  });
});

const seqs = async (filter: AuditFilter, after = 0, limit = 100) =>
  (await listAudit(db, after, limit, filter)).map(({ seq }) => seq);

describe('audit records', () => {
  it.each<[AuditFilter, readonly number[]]>([
    [{}, [1, 2, 3, 4, 5, 6]],
    [{ actor: 'ada' }, [1, 4, 5, 6]],
    [{ actor: 'agent-7' }, [2, 3]],
    [{ target: 'agent-7' }, [1, 2]],
    [{ outcome: 'refused' }, [3, 6]],
    [{ sinceMs: 3_000 }, [3, 4, 5, 6]],
    [{ action: 'pin.taken' }, [2]],
    // The first word of an action, and no word that only begins like it.
    [{ action: 'pin' }, [2, 3, 4]],
    [{ action: 'pi' }, []],
    // What a pattern would take for any character is that character.
    [{ action: 'p_n' }, [6]],
    [{ action: '%' }, []],
    [{ actor: 'ada', outcome: 'done', sinceMs: 2_000 }, [4, 5]],
    [{ actor: 'nobody' }, []],
  ])('%j are %j', async (filter, expected) => {
    expect(await seqs(filter)).toEqual(expected);
  });

  it('of a secret are also those of its rotations, and of no other', async () => {
    const walk = { from: 1, to: 2, phase: 'done', phaseStartedAtMs: 1, reason: 'planned', startedAtMs: 1 } as const;
    const rest = { left: [], pausedBecause: null, canary: null };
    const acts = [
      ['secret.created', 'fleet-token'],
      ['rotation.started', 'r-1'],
      ['rotation.started', 'r-2'],
      ['rotation.advanced', 'r-1'],
    ] as const;
    await db.transaction().execute(async (tx) => {
      const vault = createTestVault('kek');
      await insertRotation(tx, vault, { id: 'r-1', secret: 'fleet-token', ...walk, ...rest });
      await insertRotation(tx, vault, { id: 'r-2', secret: 'master', ...walk, ...rest });
      for (const [action, target] of acts) {
        await appendAudit(tx, { at: 7_000, actor: operator, action, target, outcome: 'done' });
      }
    });
    expect(await seqs({ target: 'fleet-token' })).toEqual([7, 8, 10]);
    expect(await seqs({ target: 'master' })).toEqual([9]);
    expect(await seqs({ target: 'r-1' })).toEqual([8, 10]);
    expect(await seqs({ target: 'fleet-token', action: 'rotation.advanced' })).toEqual([10]);
    expect(await seqs({ target: 'fleet' })).toEqual([]);
  });

  it('fill a page, and go on behind it, though others lie between', async () => {
    expect(await seqs({ actor: 'ada' }, 0, 2)).toEqual([1, 4]);
    expect(await seqs({ actor: 'ada' }, 4, 2)).toEqual([5, 6]);
    expect(await seqs({ actor: 'ada' }, 6, 2)).toEqual([]);
  });
});

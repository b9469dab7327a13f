import { describe, expect, it } from 'vitest';
import { addUp, disagreements, parseHeartbeats, refusedOf } from './counting.ts';

describe('beats that were counted on both sides', () => {
  const agents = addUp([{ ok: 40, hub_untrusted: 2 }, { ok: 41, unauthenticated: 1 }, {}]);

  it('are added up under the names of the hub', () => {
    expect(agents).toEqual({ ok: 81, hub_untrusted: 2, refused: 1 });
  });

  it('agree when the hub saw what agents and thief sent, and nothing that never arrived', () => {
    expect(disagreements({ hub: { ok: 84, refused: 5 }, agents, thief: { ok: 3, refused: 4 } })).toEqual([]);
  });

  it.each([
    ['the hub saw one more', { ok: 85, refused: 5 }, ['ok: hub 85, sent 84']],
    ['the hub saw one less', { ok: 83, refused: 5 }, ['ok: hub 83, sent 84']],
    ['equal sums hide two errors', { ok: 85, refused: 4 }, ['ok: hub 85, sent 84', 'refused: hub 4, sent 5']],
    ['the hub has a result of its own', { ok: 84, refused: 5, internal: 1 }, ['internal: hub 1, sent 0']],
  ])('disagree when %s', (_, hub, expected) => {
    expect(disagreements({ hub, agents, thief: { ok: 3, refused: 4 } })).toEqual(expected);
  });

  it('were refused when they arrived and came to anything but ok', () => {
    expect(refusedOf({ ok: 81, hub_untrusted: 2, unreachable: 1 })).toBe(0);
    expect(refusedOf({ ok: 81, refused: 1, unavailable: 2 })).toBe(3);
  });

  it('are read from the text that Prometheus reads', () => {
    const text = [
      '# TYPE rollcall_heartbeats_total counter',
      'rollcall_heartbeats_total{result="ok"} 216',
      'rollcall_heartbeats_total{result="refused"} 9',
      'rollcall_auth_total{rung="derived",result="ok"} 216',
    ].join('\n');
    expect(parseHeartbeats(text)).toEqual({ ok: 216, refused: 9 });
    expect(parseHeartbeats('')).toEqual({});
  });
});

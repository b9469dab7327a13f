import { describe, expect, it } from 'vitest';
import { limits } from '../limits.ts';
import { type InstanceNote, type InstanceState, noInstances, noteInstance } from './instance.ts';

type Beat = readonly [
  instance: string,
  seq: number,
  kind: InstanceNote['kind'],
  moves: boolean,
  currentIsFresh?: boolean,
];

/** Plays beats; each says what it is noted as. Returns the last note. */
function play(beats: readonly Beat[], start: InstanceState = noInstances): InstanceNote {
  let state = start;
  let note: InstanceNote | undefined;
  for (const [instance, seq, kind, moves, currentIsFresh = true] of beats) {
    note = noteInstance(state, instance, seq, currentIsFresh);
    expect([instance, seq, note.kind, note.moves]).toEqual([instance, seq, kind, moves]);
    state = note.state;
  }
  if (note === undefined) throw new Error('no beats');
  return note;
}

// biome-ignore format: a table
const stories: readonly (readonly [what: string, beats: readonly Beat[]])[] = [
  ['an agent beats', [['a', 1, 'new', true], ['a', 2, 'rising', true], ['a', 9, 'rising', true]]],
  ['an agent restarts', [['a', 5, 'new', true], ['b', 1, 'new', true], ['b', 2, 'rising', true]]],
  ['a beat is replayed', [['a', 1, 'new', true], ['a', 2, 'rising', true], ['a', 2, 'replay', false], ['a', 1, 'replay', false], ['a', 3, 'rising', true]]],
  ['a number that cannot be read is a replay', [['a', 1, 'new', true], ['a', Number.NaN, 'replay', false]]],
  ['a recording of a former instance is a replay, however often', [['a', 5, 'new', true], ['b', 1, 'new', true], ['a', 4, 'replay', false], ['a', 5, 'replay', false], ['a', 5, 'replay', false]]],
  ['a late packet of the former instance is no clone', [['a', 5, 'new', true], ['b', 1, 'new', true], ['a', 6, 'superseded', false], ['b', 2, 'rising', true]]],
  ['two machines alternate: a clone, and nothing flaps', [
    ['a', 1, 'new', true], ['b', 1, 'new', true],
    ['a', 2, 'superseded', false], ['b', 2, 'rising', true],
    ['a', 3, 'clone', false], ['b', 3, 'rising', true],
    ['a', 4, 'clone', false], ['b', 4, 'rising', true],
  ]],
  ['the successor falls silent: the former one speaks again', [['a', 1, 'new', true], ['b', 1, 'new', true], ['a', 2, 'returned', true, false], ['a', 3, 'rising', true]]],
  ['a recording does not speak again for a silent one', [['a', 5, 'new', true], ['b', 1, 'new', true], ['a', 5, 'replay', false, false]]],
  ['and when that one comes back beside it, it is the clone', [
    ['a', 1, 'new', true], ['b', 1, 'new', true], ['a', 2, 'returned', true, false],
    ['b', 2, 'superseded', false], ['b', 3, 'clone', false],
  ]],
  ['a thief with a new instance each time: the true one is seen as the other', [
    ['a', 1, 'new', true], ['x', 1, 'new', true], ['a', 2, 'superseded', false], ['y', 1, 'new', true], ['a', 3, 'clone', false],
  ]],
];

describe('instances', () => {
  it.each(stories)('%s', (_what, beats) => {
    play(beats);
  });

  it('show which two alternate', () => {
    const note = play([
      ['a', 1, 'new', true],
      ['b', 1, 'new', true],
      ['a', 2, 'superseded', false],
      ['a', 3, 'clone', false],
    ]);
    expect(note.evidence).toEqual({ current: 'b', other: 'a' });
  });

  it('remember a replay no differently: a thief with a recording changes nothing', () => {
    const before = play([
      ['a', 1, 'new', true],
      ['b', 5, 'new', true],
    ]).state;
    expect(noteInstance(before, 'b', 5, true).state).toBe(before);
    expect(noteInstance(before, 'a', 1, true).state).toBe(before);
    expect(noteInstance(before, 'b', 6, true).state).not.toBe(before);
  });

  it('remember who spoke before, each once, newest first', () => {
    const a = { instance: 'a', seq: 1, returns: 0 };
    const b = { instance: 'b', seq: 1, returns: 0 };
    expect(noInstances).toEqual({ current: null, superseded: [] });
    const first = noteInstance(noInstances, 'a', 1, true).state;
    expect(first).toEqual({ current: { instance: 'a', seq: 1 }, superseded: [] });
    const second = noteInstance(first, 'b', 1, true).state;
    const third = noteInstance(second, 'c', 1, true).state;
    expect(third).toEqual({ current: { instance: 'c', seq: 1 }, superseded: [b, a] });
    // Back beside its successor: only its own row is another.
    expect(noteInstance(third, 'a', 2, true).state).toEqual({
      current: { instance: 'c', seq: 1 },
      superseded: [b, { instance: 'a', seq: 2, returns: 1 }],
    });
    // Back instead of its successor: it is no former one any more.
    expect(noteInstance(third, 'a', 2, false).state).toEqual({
      current: { instance: 'a', seq: 2 },
      superseded: [{ instance: 'c', seq: 1, returns: 0 }, b],
    });
  });

  it('are bounded, whatever a bearer sends', () => {
    let state = noInstances;
    for (let n = 0; n < 10_000; n += 1) state = noteInstance(state, `i${n}`, 1, true).state;
    expect(state.superseded).toHaveLength(limits.supersededInstances);
    expect(state.superseded[0]?.instance).toBe('i9998');
  });
});

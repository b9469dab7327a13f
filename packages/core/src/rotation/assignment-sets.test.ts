import { describe, expect, it } from 'vitest';
import { type AssignmentSets, assignmentSets, commandVersions, contains } from './assignment-sets.ts';
import { tokenRotation } from './holder.fixture.ts';
import { replicaAccepts, retiringVersion, stayingVersion } from './holder.ts';
import { type Phase, phases, type Rotation } from './phases.ts';
import { rotationIn } from './roll.fixture.ts';

const leak = { reason: 'leak' } as const;

/** What is accepted, and what is presented, before and after the switch. */
function summary(rotation: Rotation, oldVerifies: boolean = true): string {
  const written = ({ accept, present }: AssignmentSets) => `${accept.join('+')}: ${present}`;
  const of = (switched: boolean) => written(assignmentSets(rotation, 9, { switched }, oldVerifies));
  return [of(false), of(true)].join(', ');
}

// biome-ignore format: a table
const table: readonly (readonly [Phase, token: string, master: string, masterAfterLeak: string, replica: string, retiring: number])[] = [
  ['planned',     '1: 1, 1: 1',     '1: 1, 1: 1',     '1: 1, 1: 1', '1',   1],
  ['widening',    '2+1: 1, 2+1: 1', '1: 1, 1: 1',     '1: 1, 1: 1', '1+2', 1],
  ['rolling',     '2+1: 1, 2+1: 2', '1: 1, 2+1: 2',   '1: 1, 2: 2', '1+2', 1],
  ['proving',     '2+1: 2, 2+1: 2', '2+1: 2, 2+1: 2', '2: 2, 2: 2', '1+2', 1],
  ['narrowing',   '2: 2, 2: 2',     '2: 2, 2: 2',     '2: 2, 2: 2', '2',   1],
  ['done',        '2: 2, 2: 2',     '2: 2, 2: 2',     '2: 2, 2: 2', '2',   1],
  ['reverting',   '2+1: 1, 2+1: 1', '1: 1, 1: 1',     '1: 1, 1: 1', '1+2', 2],
  ['withdrawing', '1: 1, 1: 1',     '1: 1, 1: 1',     '1: 1, 1: 1', '1',   2],
  ['rolled_back', '1: 1, 1: 1',     '1: 1, 1: 1',     '1: 1, 1: 1', '1',   2],
];

describe('the assignment of a phase', () => {
  it.each(table)('%s', (phase, token, master, masterAfterLeak, replica, retiring) => {
    const rotation = tokenRotation(phase);
    expect(summary(rotation)).toBe(token);
    expect(summary(rotationIn(phase))).toBe(master);
    expect(summary(rotationIn(phase, leak))).toBe(masterAfterLeak);
    expect(replicaAccepts(rotation, true).join('+')).toBe(replica);
    expect([retiringVersion(rotation), stayingVersion(rotation)]).toEqual([retiring, 3 - retiring]);
  });

  it.each(table)('%s, once the old version verifies no more', (phase) => {
    for (const rotation of [tokenRotation(phase), rotationIn(phase), rotationIn(phase, leak)]) {
      expect(summary(rotation, false)).toBe('2: 2, 2: 2');
      expect(replicaAccepts(rotation, false)).toEqual([2]);
    }
  });

  it.each(table)('%s: the version that it drops is named while it runs, and of the master none', (phase) => {
    const refuses = (rotation: Rotation, oldVerifies: boolean) =>
      [false, true].map((switched) => assignmentSets(rotation, 9, { switched }, oldVerifies).refuse);
    const dropped = phase === 'narrowing' ? [1] : phase === 'withdrawing' ? [2] : undefined;
    expect(refuses(tokenRotation(phase), true)).toEqual([dropped, dropped]);
    const cutOff = phases[phase].next === null ? undefined : [1];
    expect(refuses(tokenRotation(phase, leak), false)).toEqual([cutOff, cutOff]);
    expect(refuses(rotationIn(phase), true)).toEqual([undefined, undefined]);
    expect(refuses(rotationIn(phase), false)).toEqual([undefined, undefined]);
  });

  it('is looked at for every phase that there is', () => {
    expect(table.map(([phase]) => phase)).toEqual(Object.keys(phases));
  });

  it('is the current version alone without a rotation', () => {
    for (const oldVerifies of [true, false]) {
      expect(assignmentSets(null, 9, { switched: true }, oldVerifies)).toEqual({ accept: [9], present: 9 });
    }
  });

  it('has versions by number, not by their text', () => {
    const rotation = tokenRotation('widening', { from: 9, to: 10 });
    expect(assignmentSets(rotation, 9, { switched: false }, true)).toEqual({ accept: [10, 9], present: 9 });
  });
});

describe('what the hub calls a host with', () => {
  it.each([
    [2, [1, 2], [2, 1]],
    [1, [1, 2], [1]],
    [10, [9, 10], [10, 9]],
    [3, [1, 2], [2, 1]],
    [0, [1, 2], []],
  ])('delivered up to %d, of %j: %j', (newest, live, versions) => {
    expect(commandVersions(newest, live)).toEqual(versions);
  });
});

describe('containment', () => {
  it.each([
    [[1, 2], [1], true],
    [[1, 2], [2, 1], true],
    [[2], [1], false],
    [[2], [2, 1], false],
    [[1], [], true],
    [[], [1], false],
  ])('%j accepts all of %j: %s', (accepts, presents, holds) => {
    expect(contains(accepts, presents)).toBe(holds);
  });
});

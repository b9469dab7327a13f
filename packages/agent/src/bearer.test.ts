import { limits } from '@rollcall/core/limits';
import { describe, expect, it } from 'vitest';
import { chooseBearer, freshBearerMemory, noteAccepted, noteRefused } from './bearer.ts';
import { assignment } from './fleet.fixture.ts';

const two = assignment({ versions: [1, 2], present: 2 });

/** Presents, over and over, to a hub that takes only `taken`; a second passes between two attempts. */
function presentTo(taken: number, master = two, attempts = 8, from = freshBearerMemory, startMs = 0) {
  let memory = from;
  const presented: number[] = [];
  for (let at = 0; at < attempts; at += 1) {
    const nowMs = startMs + at * 1_000;
    const version = chooseBearer(master, memory, nowMs)?.version;
    presented.push(version as number);
    memory = version === taken ? noteAccepted(master, memory, version, nowMs) : noteRefused(master, memory, version);
  }
  return { presented, memory };
}

describe('the bearer that is presented', () => {
  it('is the one that the assignment names, wherever it stands in the accept set', () => {
    expect(presentTo(2).presented).toEqual(Array(8).fill(2));
    expect(presentTo(1, assignment({ versions: [1, 2], present: 1 })).presented).toEqual(Array(8).fill(1));
  });

  it('is the other accepted one after two refusals, and stays it while that is taken', () => {
    expect(presentTo(1).presented).toEqual([2, 2, 1, 1, 1, 1, 1, 1]);
  });

  it('is tried again after a minute, and costs one refusal when it is still not taken', () => {
    const { memory } = presentTo(1);
    const later = presentTo(1, two, 4, memory, limits.otherBearerMs + 10_000);
    expect(later.presented).toEqual([2, 1, 1, 1]);
    expect(presentTo(2, two, 4, memory, limits.otherBearerMs + 10_000).presented).toEqual([2, 2, 2, 2]);
  });

  it('changes with every refusal when neither is taken', () => {
    expect(presentTo(9).presented).toEqual([2, 2, 1, 2, 1, 2, 1, 2]);
  });

  it('is the only one there is, however often it is refused', () => {
    expect(presentTo(9, assignment()).presented).toEqual(Array(8).fill(1));
  });

  it('is none without an assignment, or without a heartbeat key in it', () => {
    expect(chooseBearer(undefined, freshBearerMemory, 0)).toBeUndefined();
    const without = assignment({ accept: [{ version: 1, value: { life: 1, keys: {} } }] });
    expect(chooseBearer(without, freshBearerMemory, 0)).toBeUndefined();
  });
});

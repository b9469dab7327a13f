import { FakeClock } from '@rollcall/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { plainStyle } from '../output/style.ts';
import { createNarrator } from './narration.ts';
import { createStory, type Story, StoryEnded } from './story.ts';

let story: Story;
let interruption: AbortController;
let lost: string | undefined;

beforeEach(() => {
  interruption = new AbortController();
  lost = undefined;
  const real = new FakeClock();
  story = createStory({
    narrator: createNarrator(() => undefined, plainStyle),
    // A sleep is over at once, and takes its time.
    clock: {
      now: () => real.now(),
      monotonic: () => real.monotonic(),
      sleep: async (ms) => real.advance(ms),
      after: () => () => undefined,
    },
    interrupted: interruption.signal,
    lost: () => lost,
  });
});

describe('a claim', () => {
  it('is kept with what was expected and seen, and compared by value', () => {
    story.claim('They are two.', ['a', 'b'], ['a', 'b']);
    expect(story.claims).toEqual([{ claim: 'They are two.', ok: true, expected: '["a","b"]', seen: '["a","b"]' }]);
  });

  it.each([
    ['another value', ['a'], ['b']],
    ['less', ['a', 'b'], ['a']],
    ['nothing', null, undefined],
    ['a number as text', 2, '2'],
  ])('that fails by %s ends the story', (_, expected, seen) => {
    expect(() => story.claim('It is so.', expected, seen)).toThrow(StoryEnded);
    expect(story.claims.map(({ ok }) => ok)).toEqual([false]);
  });

  it('fails when a process is gone, whatever it says itself', () => {
    lost = 'hub ended: killed by SIGKILL';
    expect(() => story.claim('It is so.', 1, 1)).toThrow(StoryEnded);
    expect(story.claims).toMatchObject([{ ok: false, seen: lost }]);
  });
});

describe('a wait', () => {
  const wait = { what: 'It comes.', part: (value: number) => value, expected: 3, withinMs: 1_000 };

  it('reads until it is there, through readings that throw, and returns what was read', async () => {
    let reads = 0;
    const read = async () => {
      reads += 1;
      if (reads === 2) throw new Error('not now');
      return reads;
    };
    expect(await story.until({ ...wait, read })).toBe(3);
    expect(story.claims).toMatchObject([{ claim: 'It comes.', ok: true }]);
  });

  it('ends in time, with what was seen last', async () => {
    await expect(story.until({ ...wait, read: async () => 2 })).rejects.toThrow(StoryEnded);
    expect(story.claims).toMatchObject([{ claim: 'It comes. (within 1 s)', ok: false, expected: '3', seen: '2' }]);
  });

  it('tells why the last reading failed', async () => {
    const read = async () => Promise.reject(new Error('no such socket'));
    await expect(story.until({ ...wait, read })).rejects.toThrow(StoryEnded);
    expect(story.claims).toMatchObject([{ ok: false, seen: 'no such socket' }]);
  });

  it('ends at once, claiming nothing, when a person ends the story', async () => {
    const read = async () => {
      interruption.abort();
      return 2;
    };
    await expect(story.until({ ...wait, read })).rejects.toThrow('interrupted');
    expect(story.claims).toEqual([]);
  });

  it('that is quiet claims only a failure', async () => {
    await story.until({ ...wait, quiet: true, read: async () => 3 });
    expect(story.claims).toEqual([]);
    await expect(story.until({ ...wait, quiet: true, read: async () => 2 })).rejects.toThrow(StoryEnded);
    expect(story.claims).toHaveLength(1);
  });
});

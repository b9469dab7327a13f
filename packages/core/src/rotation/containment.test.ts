import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignmentSets, commandVersions, contains } from './assignment-sets.ts';
import { type Act, Model, shippedWalk, type Walk } from './containment.fixture.ts';
import { type Phase, phases } from './phases.ts';
import { rotationIn } from './roll.fixture.ts';

const disturbance: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constantFrom('load', 'restart'), replica: fc.nat(1) }),
  fc.record({ kind: fc.constantFrom('advance', 'wave', 'retire', 'retire', 'add') }),
  fc.record({ kind: fc.constantFrom('deliver', 'beat', 'lose', 'enrol', 'sleep', 'wake', 'remove'), host: fc.nat(3) }),
);

/** A rotation, with disturbances wherever it stands. */
const story: fc.Arbitrary<readonly Act[]> = fc
  .tuple(
    fc.constantFrom('planned', 'leak'),
    fc.array(
      fc.tuple(fc.constantFrom<Phase>('widening', 'rolling', 'proving', 'narrowing', 'done'), fc.array(disturbance)),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([reason, parts]) => [
    { kind: 'start', reason },
    ...parts.flatMap(([phase, disturbances]): readonly Act[] => [{ kind: 'reach', phase }, ...disturbances]),
  ]);
const stories: fc.Arbitrary<readonly Act[]> = fc.array(story, { minLength: 1, maxLength: 2 }).map((all) => all.flat());

function play(walk: Walk, acts: readonly Act[]): Model {
  const model = new Model(walk, 3);
  for (const act of acts) model.act(act);
  return model;
}

describe('I1: what verifiers accept contains what callers present', () => {
  it('in both directions, after every act of any story', () => {
    const visited = new Set<string>();
    fc.assert(
      fc.property(stories, (acts) => {
        const model = play(shippedWalk, acts);
        for (const visit of model.visited) visited.add(visit);
        expect(model.found).toEqual([]);
      }),
      // A fixed seed, since what the stories reach is asserted, too.
      { numRuns: 1_000, seed: 1 },
    );
    // Sometimes: the stories do reach every phase, for both reasons, with hosts that join and re-enrol in it.
    for (const phase of ['widening', 'rolling', 'proving', 'narrowing']) {
      for (const reason of ['planned', 'leak']) {
        for (const kind of ['add', 'enrol', 'restart', 'lose', 'sleep', 'remove']) {
          expect(visited).toContain(`${phase} ${reason} ${kind}`);
        }
      }
    }
  });

  it('and every rotation ends once faults stop, with everyone on the new version alone', () => {
    fc.assert(
      fc.property(stories, (acts) => {
        const model = play(shippedWalk, acts);
        fc.pre(model.hosts.length > 0);
        model.settle();
        const current = model.generations.at(-1)?.version ?? 0;
        expect([model.rotation, model.generations.length, model.violations()]).toEqual([null, 1, []]);
        for (const host of model.hosts) expect(host.held).toEqual({ accept: [current], present: current });
      }),
      { numRuns: 300 },
    );
  });
});

describe('plausible wrong walks break it, where the shipped one does not', () => {
  const widened: readonly Act[] = [
    { kind: 'start', reason: 'planned' },
    { kind: 'load', replica: 0 },
    { kind: 'load', replica: 1 },
    { kind: 'advance' },
    { kind: 'wave' },
  ];
  const come = (...hosts: readonly number[]): readonly Act[] =>
    hosts.flatMap((host): readonly Act[] => [{ kind: 'wave' }, { kind: 'deliver', host }, { kind: 'beat', host }]);

  const wrong: readonly (readonly [what: string, changes: Partial<Walk>, story: readonly Act[]])[] = [
    [
      'the naive flip: everyone is told the new version at once',
      { sets: (_rotation, currentVersion) => ({ accept: [currentVersion], present: currentVersion }) },
      [
        { kind: 'start', reason: 'planned' },
        { kind: 'deliver', host: 0 },
      ],
    ],
    [
      'the hub forgets the old version when it makes the new one',
      { load: (rows) => rows.filter((row) => row.state === 'current') },
      [
        { kind: 'start', reason: 'planned' },
        { kind: 'load', replica: 0 },
      ],
    ],
    [
      'gates are open',
      { gateIsOpen: () => true },
      [{ kind: 'start', reason: 'planned' }, { kind: 'advance' }, { kind: 'wave' }, { kind: 'deliver', host: 0 }],
    ],
    [
      'one replica is enough',
      {
        gateIsOpen: (rotation, observations, nowMs) =>
          shippedWalk.gateIsOpen(rotation, { ...observations, replicas: observations.replicas.slice(0, 1) }, nowMs),
      },
      [
        { kind: 'start', reason: 'planned' },
        { kind: 'load', replica: 0 },
        { kind: 'advance' },
        { kind: 'wave' },
        { kind: 'deliver', host: 0 },
      ],
    ],
    [
      'only fresh hosts are called before retiring',
      { calls: (roll) => roll.filter((host) => host.fresh) },
      [...widened, { kind: 'sleep', host: 2 }, ...come(0, 1), { kind: 'retire' }, { kind: 'load', replica: 0 }],
    ],
    [
      'a host that re-enrolled counts as proven',
      { calls: (roll) => roll.map((host) => ({ ...host, provenVersion: host.provenVersion ?? 2 })) },
      [
        ...widened,
        ...come(0, 1, 2),
        { kind: 'add' },
        { kind: 'enrol', host: 3 },
        { kind: 'retire' },
        { kind: 'load', replica: 0 },
      ],
    ],
    [
      'a host that joins is given the old version, also after its window',
      { sets: (rotation, currentVersion, host) => assignmentSets(rotation, currentVersion, host, true) },
      [
        ...widened,
        ...come(0, 1, 2),
        { kind: 'retire' },
        { kind: 'load', replica: 0 },
        { kind: 'add' },
        { kind: 'enrol', host: 3 },
      ],
    ],
    [
      'the hub commands with the newest version only, and the response was lost',
      { tries: (host) => [host.delivered] },
      [...widened, { kind: 'lose', host: 0 }],
    ],
    [
      'the hub commands with the proven version only, and the delivery carried the new one alone',
      { tries: (host) => [host.provenVersion ?? host.delivered] },
      [{ kind: 'start', reason: 'leak' }, ...widened.slice(1), { kind: 'deliver', host: 0 }],
    ],
    [
      'the hub commands with the newest version, then with the proven one, and the host has only just enrolled',
      { tries: (host) => [host.delivered, host.provenVersion ?? host.delivered] },
      [...widened.slice(0, 4), { kind: 'enrol', host: 0 }, { kind: 'wave' }, { kind: 'lose', host: 0 }],
    ],
  ];

  it.each(wrong)('%s', (_what, changes, story) => {
    expect(play({ ...shippedWalk, ...changes }, story).found).not.toEqual([]);
    expect(play(shippedWalk, story).found).toEqual([]);
  });
});

describe('assignment sets', () => {
  // biome-ignore format: a table
  const cases: readonly (readonly [Phase, reason: 'planned' | 'leak', before: string, after: string])[] = [
    ['planned',   'planned', '[1] 1',   '[1] 1'],
    ['widening',  'planned', '[1] 1',   '[1] 1'],
    ['rolling',   'planned', '[1] 1',   '[2,1] 2'],
    ['proving',   'planned', '[2,1] 2', '[2,1] 2'],
    ['narrowing', 'planned', '[2] 2',   '[2] 2'],
    ['done',      'planned', '[2] 2',   '[2] 2'],
    ['widening',  'leak',    '[1] 1',   '[1] 1'],
    ['rolling',   'leak',    '[1] 1',   '[2] 2'],
    ['proving',   'leak',    '[2] 2',   '[2] 2'],
    ['narrowing', 'leak',    '[2] 2',   '[2] 2'],
  ];

  function sets(
    phase: Phase,
    secret: string,
    reason: 'planned' | 'leak',
    switched: boolean,
    oldVerifies: boolean,
  ): string {
    const { accept, present } = assignmentSets(rotationIn(phase, { secret, reason }), 2, { switched }, oldVerifies);
    return `[${accept}] ${present}`;
  }

  it.each(cases)('of the master in %s (%s): %s before its turn, %s after', (phase, reason, before, after) => {
    expect(sets(phase, 'master', reason, false, true)).toBe(before);
    expect(sets(phase, 'master', reason, true, true)).toBe(after);
  });

  it('are the current version alone without a rotation, and the new one alone once the old has stopped', () => {
    expect(assignmentSets(null, 7, { switched: false }, true)).toEqual({ accept: [7], present: 7 });
    for (const [phase, reason] of cases) {
      for (const switched of [false, true]) expect(sets(phase, 'master', reason, switched, false)).toBe('[2] 2');
    }
  });

  it('of a named secret are widened at every holder, on the way back too', () => {
    expect(sets('widening', 'api-token', 'planned', false, true)).toBe('[2,1] 1');
    expect(sets('rolling', 'api-token', 'planned', false, true)).toBe('[2,1] 1');
    expect(sets('rolling', 'api-token', 'planned', true, true)).toBe('[2,1] 2');
    expect(sets('reverting', 'api-token', 'planned', true, true)).toBe('[2,1] 1');
    expect(sets('withdrawing', 'api-token', 'planned', true, true)).toBe('[1] 1');
  });

  it('of two members in the same or in neighbouring phases always fit together', () => {
    const names = Object.keys(phases) as Phase[];
    const version = { old: 1, new: 2 } as const;
    for (const phase of names) {
      const { next, rollback, callerPresents, verifierAccepts } = phases[phase];
      const presents = [callerPresents.before, callerPresents.after];
      expect(
        contains(
          verifierAccepts.map((side) => version[side]),
          presents.map((side) => version[side]),
        ),
      ).toBe(true);
      for (const following of [next, rollback]) {
        if (following === null) continue;
        // After the gate every caller has done what the phase asked, and verifiers change one by one.
        const settled = version[phase === 'rolling' ? 'new' : phases[phase].callerPresents.before];
        const late = phase === 'rolling' && following === rollback ? [1, 2] : [settled];
        for (const accepts of [verifierAccepts, phases[following].verifierAccepts]) {
          expect(
            contains(
              accepts.map((side) => version[side]),
              late,
            ),
          ).toBe(true);
        }
      }
    }
  });
});

describe('the versions that the hub commands with', () => {
  it.each([
    [2, [2, 1], [2, 1]],
    [2, [1, 2], [2, 1]],
    [1, [2, 1], [1]],
    [2, [2], [2]],
    [1, [2], []],
  ])('delivered up to %d, live %j: %j', (delivered, live, then) => {
    expect(commandVersions(delivered, live)).toEqual(then);
  });
});

describe('containment', () => {
  it.each([
    [[1, 2], [1], true],
    [[1, 2], [2, 1, 2], true],
    [[1], [1, 2], false],
    [[], [1], false],
    [[1], [], true],
  ])('%j contains %j: %s', (accepts, presents, then) => expect(contains(accepts, presents)).toBe(then));
});

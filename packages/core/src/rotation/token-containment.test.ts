import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Phase } from './phases.ts';
import { shippedTokenWalk, type TokenAct, TokenModel, type TokenWalk } from './token-containment.fixture.ts';

const disturbance: fc.Arbitrary<TokenAct> = fc.oneof(
  fc.record({ kind: fc.constantFrom('load', 'advance', 'wave', 'probe hub', 'call', 'wait', 'add', 'rollback') }),
  fc.record({
    kind: fc.constantFrom('deliver', 'beat', 'probe', 'crash', 'sleep', 'wake', 'remove', 'enrol'),
    host: fc.nat(4),
  }),
);

const story: fc.Arbitrary<readonly TokenAct[]> = fc
  .array(
    fc.tuple(
      fc.constantFrom<Phase>('widening', 'rolling', 'proving', 'narrowing', 'reverting'),
      fc.array(disturbance, { maxLength: 12 }),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => [
    { kind: 'start' },
    ...parts.flatMap(([phase, disturbances]): readonly TokenAct[] => [
      ...(phase === 'reverting' ? [{ kind: 'rollback' as const }] : [{ kind: 'reach' as const, phase }]),
      ...disturbances,
    ]),
  ]);
const stories: fc.Arbitrary<readonly TokenAct[]> = fc
  .array(story, { minLength: 1, maxLength: 2 })
  .map((all) => all.flat());

function play(walk: TokenWalk, acts: readonly TokenAct[]): TokenModel {
  const model = new TokenModel(walk, 3);
  for (const act of acts) model.act(act);
  return model;
}

describe('I1 for a shared token: every verifier takes what every caller sends', () => {
  it('after every act of any story', () => {
    const visited = new Set<string>();
    fc.assert(
      fc.property(stories, (acts) => {
        const model = play(shippedTokenWalk, acts);
        for (const visit of model.visited) visited.add(visit);
        expect(model.found).toEqual([]);
      }),
      { numRuns: 300, seed: 1 },
    );
    for (const phase of ['widening', 'rolling', 'proving', 'narrowing', 'reverting', 'withdrawing']) {
      for (const kind of ['add', 'enrol', 'crash', 'sleep', 'remove', 'load', 'call']) {
        expect(visited).toContain(`${phase} ${kind}`);
      }
    }
  });

  it('and every rotation ends once faults stop', () => {
    fc.assert(
      fc.property(stories, (acts) => {
        const model = play(shippedTokenWalk, acts);
        fc.pre(model.hosts.length > 0);
        model.settle();
        expect([model.rotation, model.violations()]).toEqual([null, []]);
      }),
      { numRuns: 100, seed: 2 },
    );
  });
});

describe('plausible wrong walks of a token break it, where the shipped one does not', () => {
  const reach = (phase: Phase): TokenAct => ({ kind: 'reach', phase });
  const told: readonly TokenAct[] = [0, 1, 2].flatMap((host) => [
    { kind: 'deliver' as const, host },
    { kind: 'probe' as const, host },
    { kind: 'beat' as const, host },
  ]);
  const always = () => true;
  const wrong: readonly (readonly [what: string, changes: Partial<TokenWalk>, acts: readonly TokenAct[]])[] = [
    [
      'the naive flip: everyone is told the new version at once',
      { sets: (rotation, current) => ({ accept: [rotation?.to ?? current], present: rotation?.to ?? current }) },
      [{ kind: 'start' }, { kind: 'deliver', host: 0 }],
    ],
    [
      'callers switch before every verifier was probed',
      {
        gateIsOpen: (rotation, ...rest) =>
          rotation.phase === 'widening' || shippedTokenWalk.gateIsOpen(rotation, ...rest),
      },
      [{ kind: 'start' }, { kind: 'advance' }, { kind: 'wave' }, ...told],
    ],
    [
      'verifiers drop the old version while somebody beside the hub sends it',
      {
        gateIsOpen: (rotation, ...rest) =>
          rotation.phase === 'proving' || shippedTokenWalk.gateIsOpen(rotation, ...rest),
      },
      [{ kind: 'start' }, reach('proving'), { kind: 'call' }, { kind: 'advance' }, { kind: 'load' }, ...told],
    ],
    [
      'a rollback takes the new version away at once',
      {
        gateIsOpen: always,
        replicaTakes: (rotation) => (rotation.phase === 'reverting' ? [rotation.from] : [rotation.to, rotation.from]),
      },
      [
        { kind: 'start' },
        { kind: 'load' },
        ...told,
        { kind: 'advance' },
        { kind: 'wave' },
        ...told,
        { kind: 'rollback' },
        { kind: 'load' },
      ],
    ],
    [
      'hosts that join get the current version alone',
      {
        sets: (rotation, current, host, oldVerifies) =>
          host.switched || rotation?.phase !== 'proving'
            ? shippedTokenWalk.sets(rotation, current, host, oldVerifies)
            : { accept: [current], present: current },
      },
      [{ kind: 'start' }, reach('proving'), { kind: 'add' }, { kind: 'enrol', host: 3 }, { kind: 'deliver', host: 3 }],
    ],
  ];

  it.each(wrong)('%s', (_what, changes, acts) => {
    expect(play({ ...shippedTokenWalk, ...changes }, acts).found).not.toEqual([]);
    expect(play(shippedTokenWalk, acts).found).toEqual([]);
  });
});

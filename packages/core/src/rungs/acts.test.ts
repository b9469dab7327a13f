import { describe, expect, it } from 'vitest';
import { type Act, acts, type Credential, isEnoughFor, rungs } from './index.ts';

const credentials: readonly Credential[] = [...rungs, 'enrolment', 'continuity', 'pinned-key', 'operator'];

/** Design 3, "What a host presents": written out, so that a change of the table is seen. */
const enough: Readonly<Record<Act, readonly Credential[]>> = {
  heartbeat: ['fleet-token', 'host-token', 'derived'],
  'ask-who-i-am': ['fleet-token', 'host-token', 'derived'],
  'describe-unproven-host': ['fleet-token', 'host-token', 'derived'],
  'describe-host': ['host-token', 'derived'],
  'receive-deliveries': ['host-token', 'derived', 'enrolment'],
  'publish-key': ['host-token', 'derived', 'enrolment', 'continuity'],
  'create-first-pin': ['host-token', 'derived', 'enrolment', 'operator'],
  'replace-pin': ['enrolment', 'continuity', 'operator'],
  'obtain-certificate': ['enrolment', 'pinned-key'],
  enrol: ['enrolment'],
};

describe('the least that an act takes', () => {
  it.each(Object.entries(enough) as [Act, readonly Credential[]][])('%s', (act, wanted) => {
    expect(credentials.filter((credential) => isEnoughFor(act, credential))).toEqual(wanted);
  });

  it('is written out above for every act of the table', () => {
    expect(Object.keys(enough).sort()).toEqual(Object.keys(acts).sort());
  });

  it('is no rung at all for what outlives a credential (I2)', () => {
    for (const act of ['replace-pin', 'obtain-certificate'] as const) {
      expect(rungs.filter((rung) => isEnoughFor(act, rung))).toEqual([]);
      expect(isEnoughFor(act, 'enrolment')).toBe(true);
    }
  });

  it('never lets a lower rung do what a higher one may not', () => {
    for (const act of Object.keys(acts) as Act[]) {
      const may = rungs.map((rung) => Number(isEnoughFor(act, rung)));
      expect(may).toEqual(may.toSorted((a, b) => a - b));
    }
  });
});

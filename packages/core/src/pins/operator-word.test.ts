import { describe, expect, it } from 'vitest';
import { isRollcallError, RollcallError } from '../errors.ts';
import { A, B, C, pinned, unpinned, unreadable } from './held.fixture.ts';
import { decideApproval, decideConfirmation, decideRejection } from './operator-word.ts';

function refusalOf(act: () => unknown): RollcallError | undefined {
  try {
    act();
  } catch (error) {
    if (isRollcallError(error)) return error;
    throw error;
  }
  return undefined;
}

function codeOf(act: () => unknown): string {
  return refusalOf(act)?.code ?? 'none';
}

const challenged = { ...pinned(A), pendings: [{ fingerprint: B, challenges: A }] };

describe('approving a key', () => {
  it('takes effect at once when the key was seen', () => {
    expect(decideApproval(challenged, B, [B])).toEqual({
      kind: 'taken',
      pin: { fingerprint: B, anchor: 'operator', previous: null, raisesLife: true },
    });
  });

  it('is recorded when the key was not seen', () => {
    expect(decideApproval(challenged, C, [B])).toEqual({ kind: 'recorded', approved: C });
  });

  it('drops the key of an overlap too', () => {
    expect(decideApproval(pinned(B, 'enrolment', A), C, [C])).toMatchObject({
      pin: { fingerprint: C, previous: null },
    });
  });

  it('raises no life when there was no pin: nothing was given out under it', () => {
    expect(decideApproval(unpinned, A, [A])).toMatchObject({ pin: { anchor: 'operator', raisesLife: false } });
  });

  it.each([
    ['a prefix', B.slice(0, 16)],
    ['one digit short', B.slice(1)],
    ['one digit more', `${B}b`],
    ['upper case', B.toUpperCase()],
    ['with colons', 'bb:'.repeat(32)],
    ['a newline behind it', `${B}\n`],
    ['nothing', ''],
  ])('refuses %s', (_what, text) => {
    expect(codeOf(() => decideApproval(challenged, text, [B]))).toBe('malformed_fingerprint');
  });

  it('refuses what is nearly a key that was seen, and takes what is far from it', () => {
    const typo = `c${B.slice(1)}`;
    expect(codeOf(() => decideApproval(challenged, typo, [B]))).toBe('fingerprint_mistyped');
    const lastHalf = B.slice(0, 32) + C.slice(32);
    expect(codeOf(() => decideApproval(challenged, lastHalf, [B]))).toBe('fingerprint_mistyped');
    expect(codeOf(() => decideApproval(challenged, typo, ['d'.repeat(64), B]))).toBe('fingerprint_mistyped');
    const fewer = B.slice(0, 31) + C.slice(31);
    expect(decideApproval(challenged, fewer, [B])).toEqual({ kind: 'recorded', approved: fewer });
  });

  it('refuses the pin itself with a code of its own, and says so of no other key', () => {
    expect(codeOf(() => decideApproval(challenged, A, [A, B]))).toBe('pin_unchanged');
    expect(codeOf(() => decideApproval(challenged, B, [A, B]))).toBe('none');
  });

  it.each(['invited', 'evicted'] as const)('refuses for an %s host: no bearer of it is let in', (status) => {
    const refusal = refusalOf(() => decideApproval({ ...challenged, status }, B, [B]));
    expect([refusal?.code, refusal?.details]).toEqual(['host_not_enrolled', { status }]);
  });

  it('works for a suspended host, which comes back', () => {
    expect(decideApproval({ ...challenged, status: 'suspended' }, B, [B]).kind).toBe('taken');
  });

  it('never reads an unreadable pin as none', () => {
    const refusal = refusalOf(() => decideApproval(unreadable, A, [A]));
    expect([refusal?.code, refusal?.details]).toEqual(['unavailable', { because: 'pin_unreadable' }]);
  });

  it('repeats no input in its error', () => {
    const error = new RollcallError('malformed_fingerprint');
    expect(error.details).toEqual({});
  });
});

describe('confirming a first-use pin', () => {
  it('makes its anchor the operator', () => {
    expect(decideConfirmation(pinned(A, 'first-use'), A)).toEqual({ kind: 'confirmed', anchor: 'operator' });
  });

  it('refuses another fingerprint, also one that is pending', () => {
    const held = { ...pinned(A, 'first-use'), pendings: [{ fingerprint: B, challenges: A }] };
    expect(codeOf(() => decideConfirmation(held, B))).toBe('fingerprint_mismatch');
    expect(codeOf(() => decideConfirmation(held, A.slice(1)))).toBe('malformed_fingerprint');
  });

  it.each(['enrolment', 'operator'] as const)('says that a pin by %s needs none', (anchor) => {
    expect(decideConfirmation(pinned(A, anchor), A)).toEqual({ kind: 'already_confirmed', anchor });
    expect(codeOf(() => decideConfirmation(pinned(A, anchor), B))).toBe('fingerprint_mismatch');
  });

  it('refuses without a pin, and with an unreadable one differently', () => {
    expect(codeOf(() => decideConfirmation(unpinned, A))).toBe('pin_absent');
    expect(codeOf(() => decideConfirmation(unreadable, A))).toBe('unavailable');
  });
});

describe('rejecting', () => {
  const two = { ...challenged, pendings: [...challenged.pendings, { fingerprint: C, challenges: A }] };

  it('drops one, or all', () => {
    expect(decideRejection(two, B)).toEqual({ rejected: [B], withdrawsApproval: false });
    expect(decideRejection(two, null)).toEqual({ rejected: [B, C], withdrawsApproval: false });
  });

  it('withdraws an approval that was not used yet', () => {
    expect(decideRejection({ ...pinned(A), approved: C }, C)).toEqual({ rejected: [], withdrawsApproval: true });
    expect(decideRejection({ ...two, approved: C }, B)).toEqual({ rejected: [B], withdrawsApproval: false });
    expect(decideRejection({ ...two, approved: C }, null)).toEqual({ rejected: [B, C], withdrawsApproval: true });
    expect(decideRejection({ ...unpinned, approved: C }, null)).toEqual({ rejected: [], withdrawsApproval: true });
  });

  it('refuses what is not pending, also what challenged a former pin', () => {
    expect(codeOf(() => decideRejection(challenged, C))).toBe('pin_not_pending');
    expect(codeOf(() => decideRejection({ ...challenged, pendings: [{ fingerprint: B, challenges: C }] }, B))).toBe(
      'pin_not_pending',
    );
    expect(codeOf(() => decideRejection(unreadable, null))).toBe('unavailable');
  });

  it('refuses where nothing waits, without a pin too, which nothing can challenge', () => {
    expect(codeOf(() => decideRejection(pinned(A), null))).toBe('pin_not_pending');
    expect(codeOf(() => decideRejection({ ...unpinned, pendings: challenged.pendings }, null))).toBe('pin_not_pending');
    expect(decideRejection(challenged, null).rejected).toEqual([B]);
  });
});

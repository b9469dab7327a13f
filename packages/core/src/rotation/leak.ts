/**
 * After a leak: what a thief who holds a generation of the master can still do, and until when. Rotation starts a clock,
 * it does not close the door (design 5). One table of facts; each row is tested against what really verifies.
 */
import { isWindowOpen } from './generations.ts';

export interface LeakFacts {
  /** The generation that leaked, and the one drawn after it. */
  readonly from: number;
  readonly to: number;
  /** When `from` stops verifying on the hub's clock; `null`: it has (I7). */
  readonly verifyUntilMs: number | null;
  readonly nowMs: number;
}

/** The first six are what a generation derives; the others are what it does not reach. */
export type LeakAct =
  | 'command'
  | 'heartbeat'
  | 'session'
  | 'terminal'
  | 'invite'
  | 'sso'
  | 'new_generation'
  | 'read_delivery'
  | 'replace_pin'
  | 'be_invited_host'
  | 'get_certificate'
  | 'hold_first_use_pin';

export interface LeakRow {
  readonly act: LeakAct;
  /** `may`: it depends on what was done before the rotation, and only a look at the hosts can tell. */
  readonly verdict: 'can' | 'cannot' | 'may';
  /** When it ends on the hub's clock; `null` where there is nothing to end, or no end. */
  readonly untilMs: number | null;
  /** Completes "a thief can still", "cannot" or "may". */
  readonly text: string;
}

type Sentence = (facts: LeakFacts) => string;

/** What the leaked generation derives, the worst first. All of it ends with the window, for every host at once. */
const derived: readonly (readonly [LeakAct, Sentence])[] = [
  [
    'command',
    ({ to }) =>
      `command a host as the hub does: the worst, and the first to end, since each host stops taking these commands when it applies version ${to}`,
  ],
  ['heartbeat', () => 'send heartbeats in the name of any host that is active'],
  ['session', () => 'forge sessions of any host'],
  ['terminal', () => 'open terminals on any host'],
  ['invite', () => 'forge invites'],
  ['sso', () => 'sign in to anything that trusts the single sign-on key of the fleet'],
];

/** What no generation reaches: a bearer moves no trust (I2), and secrets are sealed to pins (I3). */
const outOfReach: readonly (readonly [LeakAct, Sentence])[] = [
  ['new_generation', ({ to }) => `derive anything of version ${to}: it was drawn afresh, not derived`],
  ['read_delivery', ({ from }) => `read a delivery: it is sealed to a key that version ${from} does not give`],
  ['replace_pin', () => 'replace a pin: another key is refused, and shown as pending'],
  ['be_invited_host', () => 'be a host that is invited: it is let in by its enrolment token alone'],
  ['get_certificate', () => 'obtain a certificate: a bearer is no proof of a pinned key'],
];

/** The whole answer to "what can a thief of `from` still do?". */
export function whatThiefCanStillDo(facts: LeakFacts): readonly LeakRow[] {
  const isOpen = isWindowOpen(facts.verifyUntilMs, facts.nowMs);
  return [
    ...derived.map(([act, text]): LeakRow => {
      const row = { act, text: text(facts) };
      return isOpen
        ? { ...row, verdict: 'can', untilMs: facts.verifyUntilMs }
        : { ...row, verdict: 'cannot', untilMs: null };
    }),
    ...outOfReach.map(([act, text]): LeakRow => ({ act, verdict: 'cannot', untilMs: null, text: text(facts) })),
    {
      act: 'hold_first_use_pin',
      verdict: 'may',
      untilMs: null,
      text: 'hold a pin that was taken on first use and that nobody confirmed, and read what is sealed to it',
    },
  ];
}

/** After a leak of a shared token: what a thief of it can still do, and until when (design 5). Each row is tested against what really verifies. */
import { isWindowOpen } from './generations.ts';
import type { LeakFacts } from './leak.ts';

export type TokenLeakAct =
  | 'be_a_member'
  | 'say_alive'
  | 'read_new_version'
  | 'be_a_host'
  | 'replace_pin'
  | 'sleeping_host';

export interface TokenLeakRow {
  readonly act: TokenLeakAct;
  readonly verdict: 'can' | 'cannot' | 'may';
  /** When it ends on the hub's clock; `null` where there is nothing to end, or no end. */
  readonly untilMs: number | null;
  /** Completes "a thief can still", "cannot" or "may". */
  readonly text: string;
}

/** All that the leaked version opens ends when the hub refuses it, whoever presents it. */
const opened: readonly (readonly [TokenLeakAct, string])[] = [
  ['be_a_member', 'pass for a member of the fleet, under any name, wherever the token is taken'],
  ['say_alive', 'say that a host is alive which has no credential of its own'],
];

export function whatTokenThiefCanStillDo({ from, to, verifyUntilMs, nowMs }: LeakFacts): readonly TokenLeakRow[] {
  const isOpen = isWindowOpen(verifyUntilMs, nowMs);
  const never = { verdict: 'cannot', untilMs: null } as const;
  return [
    ...opened.map(
      ([act, text]): TokenLeakRow =>
        isOpen ? { act, text, verdict: 'can', untilMs: verifyUntilMs } : { act, text, ...never },
    ),
    { act: 'read_new_version', ...never, text: `learn version ${to}: it is sealed to the pin of each host` },
    { act: 'be_a_host', ...never, text: `be a host that has a credential of its own: version ${from} names none` },
    { act: 'replace_pin', ...never, text: 'take or replace a pin: a shared token moves none' },
    {
      act: 'sleeping_host',
      verdict: 'may',
      untilMs: null,
      text: 'be taken by the listener of a host that sleeps through that time, until its next heartbeat',
    },
  ];
}

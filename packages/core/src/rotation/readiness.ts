/** Readiness: would the next retirement strand anyone, and is the hub itself fit to judge (design 5, 8, 11). */

import { retireNow, type Sweep, safeToRetire } from './sweep.ts';

/** One thing that the hub checked about itself. */
export interface HubCheck {
  /** `database`, `generation_store`, `pin_store`, `kek`, `jobs`, `rolled_back`, `certificate_life`, … */
  readonly code: string;
  readonly ok: boolean;
  readonly hint: string;
  /** It will stop working, and works still: shown, and no reason to take the hub out of service. */
  readonly isWarning?: boolean;
}

export interface ReadinessProblem {
  readonly code: string;
  /** Sorted; empty where the problem is the hub's own. */
  readonly hosts: readonly string[];
  readonly hint: string;
}

export interface Readiness {
  readonly ready: boolean;
  readonly safeToRetire: { readonly master: boolean };
  readonly retireNow: { readonly master: boolean };
  readonly examined: number;
  readonly hostsNotProvenOnCurrent: number;
  readonly hostsUnattributed: number;
  readonly hostsWithoutUsablePin: number;
  readonly hostsUnusableKey: number;
  readonly hostsHoldingMaster: number;
  readonly pendingPins: number;
  /** Hub time in milliseconds, or `null`; the wire says it as RFC 3339. */
  readonly previousVerifiesUntilMs: number | null;
  readonly problems: readonly ReadinessProblem[];
}

/** Assembles what `GET /v1/readiness` answers. Ready: every check passes, the roll is not empty, and nothing is wrong. */
export function readiness(sweep: Sweep, checks: readonly HubCheck[]): Readiness {
  const problems = [
    ...checks.filter((check) => !check.ok).map(({ code, hint }) => ({ code, hosts: [], hint })),
    ...(sweep.examined === 0 ? [EMPTY_ROLL] : []),
    ...hostProblems(sweep),
  ];
  return {
    ready: problems.length === 0,
    safeToRetire: { master: safeToRetire(sweep) },
    retireNow: { master: retireNow(sweep) },
    examined: sweep.examined,
    hostsNotProvenOnCurrent: sweep.notProvenOnCurrent.length,
    hostsUnattributed: sweep.unattributed.length,
    hostsWithoutUsablePin: sweep.withoutUsablePin.length,
    hostsUnusableKey: sweep.unusableKey.length,
    hostsHoldingMaster: sweep.holdingMaster.length,
    pendingPins: sweep.pendingPins,
    previousVerifiesUntilMs: sweep.previousVerifiesUntilMs,
    problems,
  };
}

/** A pass over nothing is not readiness (I6). */
const EMPTY_ROLL: ReadinessProblem = {
  code: 'empty_roll',
  hosts: [],
  hint: 'No host is on the roll: `rollcall host add NAME` invites the first one.',
};

type Row = readonly [code: string, hosts: (sweep: Sweep) => readonly string[], hint: string];

const rows: readonly Row[] = [
  [
    'not_proven_on_current',
    (sweep) => sweep.notProvenOnCurrent,
    'No verifier has seen them use the current version: wake or enrol them, or `rollcall host remove`.',
  ],
  ['unattributed', (sweep) => sweep.unattributed, 'Nobody knows which version they hold: they have not used any yet.'],
  [
    'without_usable_pin',
    (sweep) => sweep.withoutUsablePin,
    'Nothing can be sealed to them: enrol them, or `rollcall pin approve` their key.',
  ],
  [
    'rows_unreadable',
    (sweep) => sweep.rowsUnreadable,
    'What is kept of them was not written by this hub, or is damaged: `rollcall host show` says what, `rollcall host reenrol` begins them anew.',
  ],
  ['unusable_key', (sweep) => sweep.unusableKey, 'They publish a malformed key: see `rollcall agent status` there.'],
  ['pin_pending', (sweep) => sweep.pendingPin, 'Another key was published for them: see `rollcall pin list`.'],
  [
    'presenting_old',
    (sweep) => (sweep.previousLeaked ? [] : sweep.presentingOld),
    'They went back to the old version: two instances, or a restored disk?',
  ],
];

function hostProblems(sweep: Sweep): readonly ReadinessProblem[] {
  return rows
    .map(([code, hosts, hint]) => ({ code, hosts: [...hosts(sweep)].sort(), hint }))
    .filter((problem) => problem.hosts.length > 0);
}

/** First use for a person: who is exposed and why, and what was accepted (design 3). */
import type { AcceptFirstUseAnswer, ExposureAnswer } from '@rollcall/wire';
import { formatAge, formatInstant } from './age.ts';
import { countOf, fingerprintStart, type View, wrap } from './page.ts';
import { formatTable } from './table.ts';

/** What each reason means to someone who has to decide. */
const whys: Readonly<Record<string, string>> = {
  invited: 'invited, not enrolled',
  suspended: 'suspended',
  pin_unreadable: 'pin unreadable',
  keys_unreadable: 'keys unreadable',
  never_seen: 'never seen',
  stale: 'stale',
  agent_too_old: 'publishes no key',
  two_keys: 'two keys seen',
  too_new: 'key too new',
};

export function formatExposure(answer: ExposureAnswer, view: View): string[] {
  const { firstUse } = answer;
  return [
    firstUse.until === null
      ? 'First use is off.'
      : view.style.warn(
          `First use is on until ${formatInstant(firstUse.until, view.nowMs)}, for ${countOf(firstUse.hosts, 'host')}.`,
        ),
    `${countOf(answer.examined, 'host')} examined, ${answer.exposed} exposed, ${answer.eligible.length} eligible.`,
    ...formatExposed(answer, view),
    ...formatEligible(answer, view),
  ];
}

export function formatAccepted(answer: AcceptFirstUseAnswer, view: View): string[] {
  if (answer.until === null) return ['First use is off. Pins that were taken before stay.'];
  return [
    `First use is on until ${formatInstant(answer.until, view.nowMs)}, for ${countOf(answer.accepted.length, 'host')} and no other:`,
    ...formatTable([{ title: 'HOST', elastic: 20 }, { title: 'KEY' }], keyRows(answer.accepted), view.width),
    ...wrap(
      'Each gets its own keys and nothing more until you confirm it, with what the host itself shows: `rollcall pin confirm HOST --fingerprint FULL`',
      view.width,
    ),
  ];
}

function formatExposed({ hosts }: ExposureAnswer, view: View): string[] {
  if (hosts.length === 0) return [];
  const rows = hosts.map((host) => ({
    cells: [
      host.id,
      { text: whys[host.why] ?? host.why, paint: view.style.warn },
      host.fingerprint === null ? '-' : fingerprintStart(host.fingerprint),
      host.address ?? '-',
      formatAge(host.firstSeenAt, view.nowMs),
    ],
  }));
  const columns = [
    { title: 'EXPOSED', elastic: 12 },
    { title: 'WHY' },
    { title: 'KEY' },
    { title: 'ADDRESS', elastic: 9 },
    { title: 'FIRST SEEN' },
  ];
  return [
    '',
    ...formatTable(columns, rows, view.width),
    ...wrap(
      'Whoever holds the master could be pinned as one of these without a race. They stay unpinned; enrol them (`rollcall host reenrol`), or remove them.',
      view.width,
    ).map(view.style.dim),
  ];
}

function formatEligible({ eligible, exposed }: ExposureAnswer, view: View): string[] {
  if (eligible.length === 0) return [];
  return [
    '',
    ...formatTable([{ title: 'ELIGIBLE', elastic: 20 }, { title: 'KEY' }], keyRows(eligible), view.width),
    ...wrap('To take the key that each of these publishes now, for a day:', view.width).map(view.style.dim),
    `  rollcall pin accept-first-use on --until 24h --exposed ${exposed}`,
  ];
}

function keyRows(hosts: readonly { readonly id: string; readonly fingerprint: string }[]): { cells: string[] }[] {
  return hosts.map((host) => ({ cells: [host.id, fingerprintStart(host.fingerprint)] }));
}

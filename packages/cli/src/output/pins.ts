/**
 * Pins for a person. A new key is shown by its first digits only: whoever approves it has to type what the host itself
 * shows, so that looking at this page cannot stand in for looking at the host (design 3).
 */
import type { ListPinsAnswer, PendingPin, ShowPinAnswer } from '@rollcall/wire';
import { formatAge, formatInstant } from './age.ts';
import { formatUnreadable } from './hosts.ts';
import { countOf, fingerprintStart, formatFields, type View, wrap } from './page.ts';
import { printable } from './printable.ts';
import type { Cell } from './table.ts';

export function formatPendingPins({ pending, unreadable }: ListPinsAnswer, view: View): string[] {
  const damaged = unreadable.flatMap((host) => formatUnreadable(printable(host), ['pending_pins'], view));
  if (pending.length === 0)
    return [damaged.length === 0 ? 'No change of a pin is pending.' : 'No change of a pin can be read.', ...damaged];
  return [
    view.style.warn(`${countOf(pending.length, 'pending change')}. Deliveries go on to the pinned key.`),
    ...pending.flatMap((change) => ['', view.style.bold(printable(change.host)), ...formatPending(change, view)]),
    '',
    ...adviceOn('HOST', view),
    ...damaged,
  ];
}

export function formatPin(answer: ShowPinAnswer, view: View): string[] {
  const { pin } = answer;
  const host = printable(answer.host);
  const fields: [string, Cell][] =
    pin === null
      ? [['pin', { text: 'none', paint: view.style.warn }]]
      : [
          ['pin', pin.fingerprint],
          ['anchor', anchorText(pin.anchor)],
          ['since', formatInstant(pin.since, view.nowMs)],
          ['last seen', formatAge(pin.lastSeenAt, view.nowMs)],
        ];
  if (answer.approved !== null)
    fields.push(['approved', answer.approved], ['', 'in force as soon as the host publishes it']);
  return [
    view.style.bold(host),
    ...formatFields(fields, view),
    ...answer.pending.flatMap((change) => ['', view.style.warn('pending'), ...formatPending(change, view)]),
    ...(answer.pending.length === 0 ? [] : ['', ...adviceOn(host, view)]),
    ...formatUnreadable(host, answer.unreadable, view),
  ];
}

function formatPending({ pinned, new: claimed, firstSeenAt, lastSeenAt, evidence }: PendingPin, view: View): string[] {
  const age = (time: string | null) => formatAge(time, view.nowMs);
  const silent = evidence.pinnedKeyStillPublishing
    ? {
        text: `still publishing, last ${age(evidence.pinnedKeyLastSeenAt)}: are there two machines?`,
        paint: view.style.bad,
      }
    : `silent, last seen ${age(evidence.pinnedKeyLastSeenAt)}`;
  return formatFields(
    [
      ['pinned', pinned],
      ['new', `${fingerprintStart(claimed)} (the rest is on the host)`],
      ['new seen', `first ${age(firstSeenAt)}, last ${age(lastSeenAt)}, ${countOf(evidence.beatsWithNewKey, 'beat')}`],
      ['pinned key', silent],
      [
        'instances',
        evidence.instancesAlternate
          ? { text: 'two alternate: a clone, or a thief beside the host', paint: view.style.bad }
          : 'one at a time',
      ],
      ['address', `${evidence.addressThen ?? 'unknown'} then, ${evidence.addressNow ?? 'unknown'} now`],
      [
        'it claims',
        evidence.claims.startup === null ? 'nothing' : `that its state was ${evidence.claims.startup} at start`,
      ],
    ],
    view,
  );
}

function adviceOn(host: string, view: View): string[] {
  return [
    ...wrap(
      'A reinstalled host, or a thief? Look on the host itself, not here: run `rollcall agent status` there, and type the whole fingerprint that it shows:',
      view.width,
    ),
    'It is the true one:',
    `  rollcall pin approve ${host} --fingerprint FULL`,
    'It is not:',
    `  rollcall pin reject ${host} --fingerprint FULL`,
  ];
}

function anchorText(anchor: string): string {
  if (anchor === 'first-use') return 'first-use: nobody has confirmed it (`rollcall pin confirm`)';
  return anchor === 'operator' ? 'operator: a person vouched for it' : 'enrolment: it came with an enrolment token';
}

/** Readiness for a person: is everyone along, may the old generation go, and who is missing what. */
import type { ReadinessAnswer } from '@rollcall/wire';
import { formatInstant } from './age.ts';
import { countOf, firstOf, formatFields, indented, type View } from './page.ts';
import { printable } from './printable.ts';

/** Each counter with the word for it; zero is what is wanted. */
const counters = [
  ['hostsNotProvenOnCurrent', 'not proven on the current version'],
  ['hostsUnattributed', 'seen with no version known'],
  ['hostsWithoutUsablePin', 'without a usable pin'],
  ['hostsUnusableKey', 'publishing an unusable key'],
  ['hostsHoldingMaster', 'holding the master itself'],
  ['pendingPins', 'pending changes of pins'],
] as const;

export function formatReadiness(answer: ReadinessAnswer, view: View): string[] {
  const { style } = view;
  const verdict = answer.ready
    ? style.good('READY')
    : `${style.bad('NOT READY')}: ${answer.examined === 0 ? 'no host was examined' : countOf(answer.problems.length, 'problem')}`;
  return [
    verdict,
    ...formatFields(
      [
        ['examined', countOf(answer.examined, 'host')],
        ...counters.map(([field, label]) => {
          const n = answer[field];
          return [label, n === 0 ? '0' : { text: String(n), paint: style.warn }] as const;
        }),
        ...Object.keys(answer.safeToRetire).map(
          (secret) => [`retire the old ${secret}`, verdictOn(answer, secret)] as const,
        ),
        [
          'old generation verifies until',
          answer.previousVerifiesUntil === null
            ? 'there is none'
            : formatInstant(answer.previousVerifiesUntil, view.nowMs),
        ],
      ],
      view,
    ),
    ...(answer.problems.length === 0 ? [] : ['', 'What is wrong:']),
    ...answer.problems.flatMap((problem) => [
      `  ${style.bad(printable(problem.code))}${problem.hosts.length === 0 ? '' : `: ${countOf(problem.hosts.length, 'host')}`}`,
      ...firstOf(inLines(problem.hosts), (hosts) => indented(hosts, view, 4), 4),
      ...indented(problem.hint, view, 4).map(style.dim),
    ]),
  ];
}

function verdictOn(answer: ReadinessAnswer, secret: string): string {
  if (answer.safeToRetire[secret] === true) return 'safe';
  if (answer.retireNow[secret] === true) return 'its window is open; `rotation retire --now` would strand nobody';
  return answer.previousVerifiesUntil === null ? 'nothing to retire' : 'not yet';
}

/** Hosts in groups of a line's length, so that the bound on lines bounds them too. */
function inLines(hosts: readonly string[]): string[] {
  const lines: string[] = [];
  for (const host of hosts) {
    const line = lines.at(-1);
    if (line === undefined || line.length + host.length > 60) lines.push(host);
    else lines[lines.length - 1] = `${line}, ${host}`;
  }
  return lines;
}

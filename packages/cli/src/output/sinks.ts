/** Sinks of an agent, in its status: where each lies, which version is in it, and what is wrong. */
import type { SinkStatus } from '@rollcall/wire';
import type { View } from './page.ts';
import { printable } from './printable.ts';
import type { Cell } from './table.ts';

export function sinkFields(sinks: readonly SinkStatus[] | undefined, view: View): readonly [string, Cell][] {
  return (sinks ?? []).map((sink) => ['sink', sinkCell(sink, view)]);
}

function sinkCell({ name, path, secret, version, state, problem }: SinkStatus, { style }: View): Cell {
  const what = version === null ? secret : `${secret} version ${version}`;
  const text = `${printable(name)}: ${what}, ${problem ?? states[state]}, at ${printable(path)}`;
  if (problem !== null) return { text, paint: style.bad };
  return state === 'reloaded' ? { text, paint: style.good } : { text, paint: style.warn };
}

const states: Readonly<Record<SinkStatus['state'], string>> = {
  reloaded: 'in place',
  unreloaded: 'written, its program is being told',
  unwritten: 'not written yet',
  drifted: 'changed by somebody else',
};

/**
 * Which rungs are accepted: what was decided for the fleet, or for the one host, which goes before it; each with the sentence
 * that says why (design 3). Looked up for every request: nothing is made here.
 */
import { RollcallError } from '../errors.ts';
import { type Act, isEnoughFor } from './acts.ts';
import { type Rung, rungs } from './rung.ts';

export interface RungRule {
  readonly isAccepted: boolean;
  /** A sentence of the person who decided it. */
  readonly reason: string;
  /** Hub time; `null` while nobody has decided anything. */
  readonly sinceMs: number | null;
}

/** What was decided. `unreadable`: a decision is there, and nobody knows which (I10). */
export type RungPolicy = Readonly<Partial<Record<Rung, RungRule | 'unreadable'>>>;

export const noPolicy: RungPolicy = Object.freeze({});

/** Before anybody decides: fleets begin on the lowest rung, and a rung is closed by evidence. */
export const openRule: RungRule = Object.freeze({
  isAccepted: true,
  reason: 'Open since the beginning: nobody has decided about it.',
  sinceMs: null,
});

/** `too_low`: the rung may be accepted, and the act takes more. */
export type RungVerdict = 'accepted' | 'refused' | 'too_low' | 'unreadable';

/** May who stands on this rung do this act? The one question of everything that lets somebody in. */
export function decideRung(act: Act, rung: Rung, fleet: RungPolicy, host: RungPolicy): RungVerdict {
  const rule = ruleOf(rung, fleet, host);
  if (rule === 'unreadable') return 'unreadable';
  if (!rule.isAccepted) return 'refused';
  return isEnoughFor(act, rung) ? 'accepted' : 'too_low';
}

/** The rule in force: the host's own, else the fleet's. */
export function ruleOf(rung: Rung, fleet: RungPolicy, host: RungPolicy): RungRule | 'unreadable' {
  return host[rung] ?? fleet[rung] ?? openRule;
}

/** Where the rule in force was decided. */
export function decidedFor(rung: Rung, fleet: RungPolicy, host: RungPolicy): 'host' | 'fleet' | 'nobody' {
  if (host[rung] !== undefined) return 'host';
  return fleet[rung] === undefined ? 'nobody' : 'fleet';
}

/** What is accepted, the lowest first. */
export function acceptedRungs(fleet: RungPolicy, host: RungPolicy): readonly Rung[] {
  return rungs.filter((rung) => {
    const rule = ruleOf(rung, fleet, host);
    return rule !== 'unreadable' && rule.isAccepted;
  });
}

/** With every rung closed nobody gets in, and nobody gets back in: throws `no_rung_left`. */
export function assertRungLeft(fleet: RungPolicy, host: RungPolicy): void {
  if (acceptedRungs(fleet, host).length === 0) throw new RollcallError('no_rung_left');
}

/** What a gate asks of each member. A large fleet is gone through once, with all that is asked, so that each member is fetched once. */
import type { Blocker, GatePolicy, Observations } from './gate.ts';
import type { Rotation } from './phases.ts';
import { lacksNothing, type RollHost } from './roll.ts';

/** What every member of a kind is to have, as one rotation asks for it at one moment. */
export interface Asked<Member extends RollHost> {
  readonly isAsked: (member: Member) => boolean;
  /** `null`: it lacks nothing. Whether it was left or evicted is not asked here. */
  readonly lackOf: (member: Member) => Lack | null;
  /** What holds the gate where there was nobody to ask (I6); `null`: there may be nobody. */
  readonly ifNobody: Blocker | null;
}

export interface Lack {
  /** A stable code. */
  readonly missing: string;
  readonly hint: string;
}

export type MemberRequirement<Member extends RollHost> = (
  rotation: Rotation,
  observations: Observations,
  policy: GatePolicy,
  nowMs: number,
) => Asked<Member>;

/** A blocker for each thing that a member lacks. Those left and those evicted never block, but they were asked. */
export function membersLacking<Member extends RollHost>(
  rotation: Rotation,
  members: readonly Member[],
  asked: readonly Asked<Member>[],
): Blocker[] {
  const sinceMs = rotation.phaseStartedAtMs;
  const left = new Set(rotation.left);
  const blockers: Blocker[] = [];
  // Members of a large fleet lack the same for the same reason: one text is kept of all that say it.
  const hints = new Map<string, string>();
  const wasAsked = asked.map(() => false);
  for (const member of members) {
    for (let at = 0; at < asked.length; at += 1) {
      const { isAsked, lackOf } = asked[at] as Asked<Member>;
      if (!isAsked(member)) continue;
      wasAsked[at] = true;
      const lack = lackOf(member);
      if (lack === null || lacksNothing(member) || left.has(member.id)) continue;
      let hint = hints.get(lack.hint);
      if (hint === undefined) {
        hint = lack.hint;
        hints.set(hint, hint);
      }
      blockers.push({ member: member.id, missing: lack.missing, sinceMs, hint });
    }
  }
  for (const [at, { ifNobody }] of asked.entries()) {
    if (wasAsked[at] === false && ifNobody !== null) blockers.push(ifNobody);
  }
  return blockers;
}

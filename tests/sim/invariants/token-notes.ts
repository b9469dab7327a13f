/** No invariant: notes how far the walks of shared tokens came, so that runs in which none moved are told from runs that held. */
import type { Check } from './invariant.ts';

const noteWalks: Check = {
  onCommit: (world, before, after) => {
    for (const { id, secret, phase, reason, paused_because } of after.tokenRotations.values()) {
      const former = before.tokenRotations.get(secret);
      const isNew = former?.id !== id;
      if (isNew || former.phase !== phase) {
        world.tell(`${secret}: ${phase}${isNew ? ` after ${reason}` : ''}`);
        world.sometimes.note(`token phase: ${phase}`);
        if (phase === 'done') world.sometimes.note(`a token was rotated: ${reason}`);
      }
      if (paused_because !== null && former?.paused_because === null && paused_because.includes('refuses'))
        world.sometimes.note('a wave was paused by a refusal');
    }
    for (const [key, { step, accept, present, acked_step }] of after.tokenAssignments) {
      const former = before.tokenAssignments.get(key);
      if (former === undefined || former.step !== step)
        world.tell(`${key}: step ${step} takes ${accept} presents ${present}`);
      if (acked_step === step && former !== undefined && former.acked_step !== acked_step) {
        world.tell(`${key}: has proven step ${step}`);
        world.sometimes.note('a host proved a step of a token');
      }
    }
  },
};

export const tokenNotes: readonly Check[] = [noteWalks];

/** Every noun, in the order of `--help`. */
import type { Noun } from '../verb.ts';
import { agentNoun } from './agent.ts';
import { auditNoun } from './audit.ts';
import { hostNoun } from './host.ts';
import { hubNoun } from './hub.ts';
import { operatorNoun } from './operator.ts';
import { pinNoun } from './pin.ts';
import { rotationNoun } from './rotation.ts';
import { rungNoun } from './rung.ts';
import { secretNoun } from './secret.ts';

export const nouns: readonly Noun[] = [
  hubNoun,
  agentNoun,
  hostNoun,
  pinNoun,
  rungNoun,
  secretNoun,
  rotationNoun,
  operatorNoun,
  auditNoun,
];

/** What the operations of a hub work with. Built once in `main.ts`; an operation names the parts that it needs. */

import type { HubRootFile } from '@rollcall/core/keys';
import type { Log, Random } from '@rollcall/core/ports';
import type { HubKey } from '@rollcall/core/seal';
import type { TrustBundle } from '@rollcall/wire';
import type { Authority } from '@rollcall/x509';
import type { Attendance } from './attendance.ts';
import type { Challenges } from './challenges.ts';
import type { Counts } from './counts.ts';
import type { HubClock } from './hub-clock.ts';
import type { Vault } from './kek/vault.ts';
import type { LiveGenerations } from './live-generations.ts';
import type { LiveTokens } from './live-tokens.ts';
import type { OldHits } from './old-hits.ts';
import type { ReferenceSource } from './references.ts';
import type { Roll } from './roll.ts';
import type { RungSightings } from './rung-sightings.ts';
import type { Statements } from './statements.ts';
import type { Db } from './store/schema.ts';
import type { TokenHits } from './token-hits.ts';
import type { AskVerifier, TokenProbes } from './token-probes.ts';
import type { TokenReports } from './token-reports.ts';

/** Read where they are used, never copied: a reload writes them anew (design 8). */
export interface Settings {
  /** The interval that hosts are asked to beat at, before jitter. */
  beatMs: number;
  /** How long the old generation goes on verifying after a rotation of the master starts. */
  verifyWindowMs: number;
  /** For how long nobody must have sent an old token before it is dropped. */
  quietWindowMs: number;
  /** A key younger than this is not taken on first use. */
  firstUseMinAgeMs: number;
}

export interface Hub {
  readonly db: Db;
  readonly vault: Vault;
  readonly clock: HubClock;
  readonly random: Random;
  readonly log: Log;
  readonly roll: Roll;
  readonly generations: LiveGenerations;
  readonly hubKey: HubKey;
  /** Signs the certificates of the fleet. */
  readonly authority: Authority;
  readonly challenges: Challenges;
  readonly statements: Statements;
  readonly counts: Counts;
  readonly oldHits: OldHits;
  /** Whether this process was there to count who came. */
  readonly attendance: Attendance;
  /** Shared tokens: what verifies, and what was counted, reported and probed. */
  readonly tokens: LiveTokens;
  readonly tokenHits: TokenHits;
  readonly tokenReports: TokenReports;
  readonly tokenProbes: TokenProbes;
  readonly ask: AskVerifier;
  /** Who was let in by a rung that may be closed. */
  readonly rungSightings: RungSightings;
  /** What configuration repositories refer to. */
  readonly references: ReferenceSource;
  readonly settings: Settings;
  /** Of steps and statements. Raised where the time was set back: within one an agent takes rising times only. */
  epoch: number;
  readonly identity: HubIdentity;
  /** Asks the rotation job to look soon. */
  readonly nudgeRotation: () => void;
}

/** What hosts are told to expect of this hub. */
export interface HubIdentity {
  readonly trustDomain: string;
  readonly hubTrust: HubRootFile;
  readonly bundle: TrustBundle;
}

/** The sinks of this host: `createSinks` over the real system. */
import type { Clock, Log } from '@rollcall/core/ports';
import type { SinkConfig } from '@rollcall/wire';
import { createSinks, type HeldAssignments, type Sinks } from '../sinks/run-sinks.ts';
import { systemSinkFiles } from './sink-files.ts';
import { systemAccounts } from './system-accounts.ts';
import { systemProcesses } from './system-processes.ts';
import { systemRandom } from './system-random.ts';

export function createHostSinks(
  at: { readonly clock: Clock; readonly log: Log; readonly directory: string },
  configured: readonly SinkConfig[],
  held: HeldAssignments,
): Sinks {
  const system = { random: systemRandom, files: systemSinkFiles, accounts: systemAccounts, processes: systemProcesses };
  return createSinks({ ...at, ...system }, configured, held);
}

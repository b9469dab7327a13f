/** Who is in the demo, by the part that each plays. */
export interface Cast {
  /** New hosts, enrolled by token. */
  readonly enrolled: readonly string[];
  /** Enrolled too; sleeps through the rotation. */
  readonly sleeper: string;
  /** Of an older fleet: they hold the master, and are pinned on first use. */
  readonly older: readonly string[];
  /** Of the older fleet, on the roll, and never heard from. */
  readonly silent: string;
  /** On the roll, its token not redeemed. */
  readonly invited: string;
  /** Of the enrolled ones: they listen, and take the shared token from callers. */
  readonly push: readonly string[];
  /** Of the older fleet, on the hub's own machine: keeps the shared token for a program there. */
  readonly keeper: string;
}

export const leastHosts = 5;
/** Each is a process of some 60 MB. */
export const mostHosts = 50;

/** `hosts` counts those that run an agent. */
export function castOf(hosts: number): Cast {
  const extra = Array.from({ length: hosts - leastHosts }, (_, at) => `web-${at + 3}`);
  return {
    enrolled: ['web-1', 'web-2', ...extra],
    sleeper: 'road-1',
    older: ['old-1', 'old-2'],
    silent: 'old-3',
    invited: 'spare-1',
    push: ['web-1', 'web-2'],
    keeper: 'old-1',
  };
}

/** Every host with an agent. */
export function agentsOf({ enrolled, sleeper, older }: Cast): readonly string[] {
  return [...enrolled, sleeper, ...older];
}

/** Those that are awake while the master is rotated. */
export function awakeOf({ enrolled, older }: Cast): readonly string[] {
  return [...enrolled, ...older];
}

/** The configuration of an agent. */
import { RollcallError } from '@rollcall/core/errors';
import { type ConfigOf, type ConfigSource, readConfig } from './config-file.ts';
import { address, host, hubAddress, oneOf, path, positive } from './config-kinds.ts';
import { isWithin, type SinkConfig, sinkList } from './sink-config.ts';

export const agentConfigTable = {
  stateDir: {
    key: 'state',
    kind: path,
    isLive: false,
    about: 'State directory, 0700.',
    example: '/var/lib/rollcall-agent',
  },
  enrol: {
    key: 'enrol',
    kind: path,
    isLive: false,
    about: 'File with an enrolment token. Once it is redeemed, the file may be gone.',
    example: '/etc/rollcall/enrolment-token',
  },
  hub: {
    key: 'hub_url',
    kind: hubAddress,
    isLive: false,
    about: 'Address of the hub, for a host of an older fleet.',
    example: 'https://hub.example.org:7443',
  },
  host: { key: 'host', kind: host, isLive: false, about: 'Host id, for a host of an older fleet.', example: 'agent-7' },
  hubRootFile: {
    key: 'hub_root_file',
    kind: path,
    isLive: false,
    about: 'The hub-root file that the hub printed, for a host of an older fleet.',
    example: '/etc/rollcall/hub-root.json',
  },
  masterFile: {
    key: 'master_file',
    kind: path,
    isLive: false,
    about: 'The master, for a host of an older fleet.',
    example: '/etc/rollcall/master',
  },
  life: {
    key: 'life',
    kind: positive,
    isLive: false,
    about: 'The life of a host of an older fleet, where it is not 1.',
    example: '2',
  },
  listen: {
    key: 'listen',
    kind: address,
    isLive: false,
    about: 'Where the hub and holders of a shared token reach this host. Without it only the host connects, outwards.',
    example: '0.0.0.0:7444',
  },
  logLevel: {
    key: 'log_level',
    kind: oneOf('debug', 'info', 'warn', 'error', 'silent'),
    isLive: true,
    about: 'What to log.',
    example: 'info',
  },
  sinks: {
    key: 'sinks',
    kind: sinkList,
    isLive: true,
    about: 'Files with a shared token for other programs on this host, kept current.',
    example: '',
  },
} as const;

export type AgentConfig = ConfigOf<typeof agentConfigTable>;

/** Throws `config_invalid`, also for values that contradict each other. */
export function readAgentConfig(
  source: ConfigSource | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): AgentConfig {
  const config = readConfig(agentConfigTable, source, environment);
  assertAgentConfig(config);
  return config;
}

/** Also over what flags have added. */
export function assertAgentConfig({ enrol, masterFile, life, stateDir, sinks = [] }: AgentConfig): void {
  const problems = [
    enrol !== undefined && masterFile !== undefined
      ? 'enrol, master_file: must not both be given; a host enrols, or is of an older fleet'
      : undefined,
    life !== undefined && masterFile === undefined
      ? 'life: only with master_file; an enrolled host learns its life from the hub'
      : undefined,
    ...sinks.map((sink) => outsideState(sink, stateDir)),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new RollcallError('config_invalid', { problems });
}

/** What lies in the state directory is for the agent alone. */
function outsideState({ name, path }: SinkConfig, stateDir: string | undefined): string | undefined {
  const meets = stateDir !== undefined && (isWithin(path, stateDir) || isWithin(stateDir, path));
  return meets ? `sinks.path: ${name} must lie outside the state directory, and not around it` : undefined;
}

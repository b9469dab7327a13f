/** Hub and agent are optional peers: a host does not install a database, a laptop neither (design 2). */
import { RollcallError } from '@rollcall/core/errors';
import type { AgentProbeAnswer, AgentReloadAnswer, AgentStatusAnswer, Examination } from '@rollcall/wire';
import type { Io } from './ports.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface HubPackage {
  initHub(options: {
    readonly dir: string;
    readonly listen?: string | undefined;
    readonly trustDomain?: string | undefined;
    readonly kekFile?: string | undefined;
  }): Promise<{
    readonly dir: string;
    readonly kekFile: string;
    readonly hubRootFile: string;
    readonly hubRoot: object;
    readonly offlineKeyFile: string;
    readonly operatorSocket: string;
    readonly listen: string;
  }>;
  runHub(options: HubRunOptions): Promise<void>;
  /** Looks, and changes nothing. */
  examineHub(options: { readonly dir: string; readonly kekFile?: string | undefined }): Promise<Examination>;
}

export interface HubRunOptions {
  readonly dir: string;
  readonly kekFile?: string | undefined;
  readonly listen?: string | undefined;
  readonly beatMs?: number | undefined;
  readonly verifyWindowMs?: number | undefined;
  readonly firstUseMinAgeMs?: number | undefined;
  readonly metrics?: string | undefined;
  readonly operators?: string | undefined;
  readonly logLevel?: LogLevel | undefined;
  /** Reads the configuration again, on SIGHUP. */
  readonly reload?: () => Promise<Omit<HubRunOptions, 'reload'>>;
}

export interface AgentPackage {
  runAgent(options: AgentRunOptions): Promise<void>;
  readAgentStatus(stateDir: string): Promise<AgentStatusAnswer>;
  /** Asks the agent that runs there to read its configuration again. */
  reloadAgent(stateDir: string): Promise<AgentReloadAnswer>;
  /** Asks the agent that runs there to probe its own listener. */
  probeAgent(stateDir: string): Promise<AgentProbeAnswer>;
  /** Looks, and changes nothing. */
  examineAgent(options: {
    readonly stateDir: string;
    readonly given?: readonly { readonly key: 'enrol' | 'master_file' | 'hub_root_file'; readonly path: string }[];
    readonly sinks?: readonly { readonly name: string; readonly path: string }[];
    readonly hub?: string;
  }): Promise<Examination>;
  /** Gives a stopped agent another wrap key. */
  resetWrapKey(stateDir: string): Promise<{
    readonly host: string;
    readonly former: string;
    readonly fingerprint: string;
    readonly keptAs: string;
  }>;
}

export interface AgentRunOptions {
  readonly stateDir: string;
  /** Path of the token, or `-`. */
  readonly enrol?: string;
  readonly hub?: string;
  readonly host?: string;
  readonly hubRootFile?: string;
  readonly masterFile?: string;
  readonly life?: number;
  readonly listen?: string;
  readonly logLevel?: LogLevel;
  /** Reads the configuration again, on SIGHUP or `agent reload`. */
  readonly reload?: () => Promise<Omit<AgentRunOptions, 'reload'>>;
}

export interface DemoPart {
  /** Writes its output itself, one JSON document where `json`, and returns an exit code. */
  runDemo(options: {
    readonly once: boolean;
    readonly json: boolean;
    /** `false`: nobody wants it. */
    readonly color?: boolean;
    readonly hosts?: number;
    readonly dir?: string;
    readonly port?: number;
  }): Promise<number>;
}

/** How each part is loaded, by the name under which it is installed. */
export interface Parts {
  readonly '@rollcall/hub': () => Promise<HubPackage>;
  readonly '@rollcall/agent': () => Promise<AgentPackage>;
  readonly demo?: () => Promise<DemoPart>;
}

export function loadHub(io: Io): Promise<HubPackage> {
  return load(io, '@rollcall/hub', io.parts['@rollcall/hub']);
}

export function loadAgent(io: Io): Promise<AgentPackage> {
  return load(io, '@rollcall/agent', io.parts['@rollcall/agent']);
}

/** The package, or `package_missing` with the command that installs it. */
async function load<T>(io: Io, name: string, part: () => Promise<T>): Promise<T> {
  try {
    return await part();
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    throw new RollcallError(
      'package_missing',
      { package: name, hint: `npm install ${name}@${io.version}` },
      { cause: error },
    );
  }
}

/** A package that is there and lacks a part of its own is broken, which is another matter. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'ERR_MODULE_NOT_FOUND' && (message ?? '').includes(`'${name}'`);
}

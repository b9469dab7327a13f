/** The daemon on every host, as a library for the command line, and its pure parts for a simulator. */
export { createHostListener, type HostListener, type HostSockets } from './adapters/host-listener.ts';
export { createHostHandler } from './adapters/host-server.ts';
export type { LogLevel } from './adapters/pino-log.ts';
export { systemFiles } from './adapters/system-files.ts';
export { type FileVerifier, openTokenFiles, type TokenFile, type TokenFiles } from './adapters/token-files.ts';
export type { Actions, AgentEvent, AgentState, Effect, Moment, Ticked } from './agent-state.ts';
export { describeAgent } from './agent-status.ts';
export { presentedToken } from './listener/acceptance.ts';
export { type LoopPorts, runLoop } from './loop.ts';
export {
  type AgentOptions,
  examineAgent,
  probeAgent,
  readAgentStatus,
  reloadAgent,
  resetWrapKey,
  runAgent,
} from './main.ts';
export { type AgentFlags, type ReadInput, readGiven } from './read-given.ts';
export { decideStart, type Given, tokenDigest } from './start.ts';
export { type DurableState, encodeDurableState, parseDurableState } from './state/durable-state.ts';
export { keepCounters, takeKeptCounters } from './state/kept-counters.ts';
export { type Loaded, loadState, prepareDirectory, type StateDirectory } from './state/load.ts';
export { createPersist, type InForce, type Persist } from './state/persist.ts';
export { tick } from './tick.ts';

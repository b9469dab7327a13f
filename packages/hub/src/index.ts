/** The hub, as the command line and tests start it. */
export type { InitOptions, InitResult } from './init-hub.ts';
export { examineHub, initHub, type RunningHub, type RunOptions, runHub, startHub } from './main.ts';

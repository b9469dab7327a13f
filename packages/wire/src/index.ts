/** Messages between hub, agent and operator: schemas, and the types that follow from them. */
export * from './agent-status.ts';
export * from './audit.ts';
export * from './config/agent-config.ts';
export * from './config/config-file.ts';
export * from './config/hub-config.ts';
export * from './enrol.ts';
export * from './heartbeat.ts';
export * from './hosts.ts';
export * from './openapi.ts';
export * from './operators.ts';
export * from './pins.ts';
export * from './problem.ts';
export * from './rotations.ts';
export * from './routes.ts';
export * from './secrets.ts';
export * as textKinds from './text-kinds.ts';
export { version } from './version.ts';

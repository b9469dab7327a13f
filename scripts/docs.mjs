#!/usr/bin/env node
/** Writes the documents that are made from sources: `npm run docs`. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runnerImport } from 'vite';

const root = join(import.meta.dirname, '..');

const { errorTable } = await load('packages/core/src/errors.ts');
const { renderErrors } = await load('scripts/render-errors.ts');
writeFileSync(join(root, 'docs', 'errors.md'), renderErrors(errorTable));

const { metricTable } = await load('packages/wire/src/metrics.ts');
const { renderMetrics } = await load('scripts/render-metrics.ts');
writeFileSync(join(root, 'docs', 'metrics.md'), renderMetrics(metricTable));

const { createOpenApi } = await load('packages/wire/src/openapi.ts');
writeFileSync(join(root, 'docs', 'openapi.json'), JSON.stringify(createOpenApi()));
execFileSync(join(root, 'node_modules', '.bin', 'biome'), ['format', '--write', 'docs/openapi.json'], { cwd: root });

const { agentExampleOptions, hubExampleOptions, renderConfigExample } = await load(
  'packages/wire/src/config/config-example.ts',
);
const { hubConfigTable } = await load('packages/wire/src/config/hub-config.ts');
const { agentConfigTable } = await load('packages/wire/src/config/agent-config.ts');
writeFileSync(join(root, 'deploy', 'hub.example.yaml'), renderConfigExample(hubConfigTable, hubExampleOptions));
writeFileSync(join(root, 'deploy', 'agent.example.yaml'), renderConfigExample(agentConfigTable, agentExampleOptions));

/** The sources themselves, so that a stale build cannot write stale documents. */
async function load(path) {
  const { module } = await runnerImport(join(root, path), { root, configFile: false, logLevel: 'error' });
  return module;
}

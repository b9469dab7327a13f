/** How `npm run mutate` changes one folder of core, named by ROLLCALL_MUTATE (docs/HACKING.md, Mutation testing). */
import { fileURLToPath } from 'node:url';

const folder = process.env.ROLLCALL_MUTATE ?? 'verify';
// Stryker runs the tests in a copy of the tree, beside which there are no vectors.
process.env.ROLLCALL_VECTORS ??= fileURLToPath(new URL('../shared/vectors', import.meta.url));

export default {
  mutate: [
    `packages/core/src/${folder}/**/!(index|*.test|*.fixture).ts`,
    // Tested in hub, on a real Fastify: core has no dependencies, not even for its tests.
    '!packages/core/src/verify/fastify-plugin.ts',
  ],
  ignorePatterns: [
    '**',
    '!package.json',
    '!tsconfig.base.json',
    '!vitest.mutation.config.ts',
    '!packages/core/**',
    'packages/core/dist',
  ],
  testRunner: 'vitest',
  vitest: { configFile: 'vitest.mutation.config.ts' },
  plugins: ['@stryker-mutator/vitest-runner', './stryker.config.mjs'],
  ignorers: ['sentences'],
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // Beside other work a slow run must not pass for an endless loop, which would count as noticed.
  timeoutMS: 30_000,
  thresholds: { high: 95, low: 90, break: 85 },
  reporters: ['progress-append-only', 'clear-text', 'html', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  htmlReporter: { fileName: `reports/mutation/${folder}.html` },
  jsonReporter: { fileName: `reports/mutation/${folder}.json` },
  warnings: { slow: false },
};

/** Sentences are no behaviour: tests assert codes and classes. No label, code or name has a space in it. */
export const strykerPlugins = [{ kind: 'Ignore', name: 'sentences', value: { shouldIgnore } }];

function shouldIgnore({ node }) {
  const texts = node.type === 'TemplateLiteral' ? node.quasis.map(({ value }) => value.cooked) : [node.value];
  const isText = node.type === 'TemplateLiteral' || node.type === 'StringLiteral';
  return isText && texts.some((text) => /^[^"]*\w\S* \S*\w/.test(text)) ? 'a sentence' : undefined;
}

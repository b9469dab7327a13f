import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type Reporter, type TestSpecification, type Vitest } from 'vitest/node';

/** The first test that fails ends a run, and mostly it is one of the changed file's own. */
class OwnTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const own = (this.ctx.config.related ?? []).map((file) => file.replace(/\.ts$/, '.test.ts'));
    const rank = ({ moduleId }: TestSpecification) => (own.includes(moduleId) ? 0 : 1);
    return files.sort((a, b) => rank(a) - rank(b));
  }
}

/**
 * Stryker looks at tests alone. A file that a change keeps from being read has none, and would pass for one that noticed
 * nothing: so it is given a test that failed.
 */
class UnreadableFileFails implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestModuleEnd(module: Parameters<NonNullable<Reporter['onTestModuleEnd']>>[0]): void {
    const { task } = module as unknown as { readonly task: { readonly tasks: unknown[] } };
    const errors = module.errors();
    if (errors.length === 0) return;
    task.tasks.push({ type: 'test', name: 'can be read', mode: 'run', file: task, result: { state: 'fail', errors } });
    void this.#vitest?.cancelCurrentRun('test-failure');
  }
}

/** The unit tests of one folder of core, for Stryker. */
export default defineConfig({
  test: {
    include: [`packages/core/src/${process.env['ROLLCALL_MUTATE'] ?? '*'}/**/*.test.ts`],
    // Random walks of seconds, for each of a thousand changes. What they alone would notice counts as missed.
    exclude: [...configDefaults.exclude, '**/*containment.test.ts'],
    testTimeout: 60_000,
    sequence: { sequencer: OwnTestsFirst },
    reporters: [new UnreadableFileFails()],
  },
});

/*
 * Runs tests in the working directory when its parent process requests it. One process serves a whole search, because
 * starting takes longer than most tests. Modules are loaded once, and reloaded only after changes.
 */
import { resolve } from 'node:path';
import { createVitest, type TestSpecification } from 'vitest/node';

/** One run: the file that has changed since the last run, and the test files, relative to the folder. */
export interface TestRun {
  readonly changed: string;
  readonly tests: readonly string[];
}

/** The failed test files of a run; `undefined` if it is unknown which files failed. */
export type Failed = readonly string[] | undefined;

const vitest = await createVitest('test', {
  watch: false,
  isolate: false,
  maxWorkers: 1,
  retry: 0,
  reporters: [{}],
  // Mutants often make tests wait forever, and thirty such tests must end within the time limit of one run.
  testTimeout: 8_000,
  hookTimeout: 20_000,
  expect: { poll: { timeout: 4_000 } },
});

/** All files that changed since the start, because each mutant is restored after its run. */
const changedFiles = new Set<string>();

process.on('message', ({ changed, tests }: TestRun) => {
  changedFiles.add(resolve(changed));
  void run(tests).then((failed) => process.send?.({ failed }));
});

process.on('disconnect', () => process.exit());

async function run(tests: readonly string[]): Promise<Failed> {
  for (const file of [...changedFiles, ...tests.map((test) => resolve(test))]) vitest.invalidateFile(file);
  const specifications = tests.flatMap((test) => specificationOf(resolve(test)) ?? []);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  // The result also contains modules of earlier runs.
  const passed = new Set(testModules.filter((module) => module.ok()).map(({ moduleId }) => moduleId));
  const failed = tests.filter((test) => !passed.has(resolve(test)));
  return failed.length === 0 && unhandledErrors.length > 0 ? undefined : failed;
}

function specificationOf(path: string): TestSpecification | undefined {
  return vitest.projects.find((project) => project.matchesTestGlob(path))?.createSpecification(path);
}

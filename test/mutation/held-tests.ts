/*
 * Runs tests in the working directory on request of the parent process. One process serves a whole search, because
 * starting a process takes longer than most tests. Modules are loaded once, and reloaded only after changes.
 */
import { resolve } from 'node:path';
import { createVitest, type TestSpecification } from 'vitest/node';

/**
 * One run: the file that changed since the last run, and the test files. Paths are relative to the working directory.
 */
export interface TestRun {
  readonly changed: string;
  readonly tests: readonly string[];
}

/** Failed test files of a run. `undefined` if it is unknown which files failed. */
export type Failed = readonly string[] | undefined;

const vitest = await createVitest('test', {
  watch: false,
  isolate: false,
  maxWorkers: 1,
  retry: 0,
  reporters: [{}],
  // Mutants often make tests wait forever, and a run with thirty such tests must finish within its time limit.
  testTimeout: 8_000,
  hookTimeout: 20_000,
  expect: { poll: { timeout: 4_000 } },
});

/**
 * All files that have changed since the start. A file stays in the set because each mutant is reverted after its run.
 */
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
  // The result also contains modules from earlier runs.
  const passed = new Set(testModules.filter((module) => module.ok()).map(({ moduleId }) => moduleId));
  const failed = tests.filter((test) => !passed.has(resolve(test)));
  return failed.length === 0 && unhandledErrors.length > 0 ? undefined : failed;
}

function specificationOf(path: string): TestSpecification | undefined {
  return vitest.projects.find((project) => project.matchesTestGlob(path))?.createSpecification(path);
}

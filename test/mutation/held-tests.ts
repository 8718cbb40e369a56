/*
 * Runs tests whenever its parent asks, in the folder that it was started in. It is held for a whole search: what was loaded
 * once is only loaded again after it changed, and starting costs more than most tests.
 */
import { resolve } from 'node:path';
import { createVitest, type TestSpecification } from 'vitest/node';

/** One run: a file that changed since the last one, and the test files, from the folder. */
export interface TestRun {
  readonly changed: string;
  readonly tests: readonly string[];
}

/** Those of the test files of a run that failed, or undefined where it is not known which of them did. */
export type Failed = readonly string[] | undefined;

const vitest = await createVitest('test', {
  watch: false,
  isolate: false,
  maxWorkers: 1,
  retry: 0,
  reporters: [{}],
  // A mutant often leaves a test waiting for what never comes, and thirty of them must end within the time of one run.
  testTimeout: 8_000,
  hookTimeout: 20_000,
  expect: { poll: { timeout: 4_000 } },
});

/** All that changed since these tests are held: each mutant is put back after it was tried. */
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
  // The answer holds the modules of earlier runs too.
  const passed = new Set(testModules.filter((module) => module.ok()).map(({ moduleId }) => moduleId));
  const failed = tests.filter((test) => !passed.has(resolve(test)));
  return failed.length === 0 && unhandledErrors.length > 0 ? undefined : failed;
}

function specificationOf(path: string): TestSpecification | undefined {
  return vitest.projects.find((project) => project.matchesTestGlob(path))?.createSpecification(path);
}

import { defineConfig } from 'vitest/config';

const serverTests = ['test/apps/server/**/*.test.ts'];
const relayTests = ['test/apps/{relay,vendors}/**/*.test.ts'];
// Tests of Markdown measure their own process's CPU time, so each file gets a process of its own.
const packageTests = ['test/packages/!(markdown)/**/*.test.ts', 'test/contracts/*.test.ts'];
// They start programs and browsers, and keep nothing in their own process.
const systemTests = ['test/{system/!(attacks),browser}/**/*.test.ts', 'test/system/*.test.ts'];
// These measure how soon others are answered, so nothing else may use the cores.
const measuringTests = ['test/system/attacks/**/*.test.ts'];

export default defineConfig({
  resolve: { conditions: ['@waxwing/source'] },
  ssr: { resolve: { conditions: ['@waxwing/source'] } },
  test: {
    setupFiles: ['test/support/observe-answers.ts'],
    globalSetup: ['test/support/provoked-codes.ts'],
    // Most of the time tests wait for processes and clocks: on two cores three at once take a sixth less time than two.
    maxWorkers: 3,
    // Generous, because tests start real processes, and a shared machine may be busy with something else.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // A machine that stalls for seconds in the middle of a test must not fail the gate; a second failure does. The gate
    // names what was retried.
    retry: process.env.CI === undefined ? 0 : 1,
    projects: [
      // Loading takes longer than many of these test files: those of one worker share what is loaded.
      { extends: true, test: { name: 'server', include: serverTests, isolate: false } },
      { extends: true, test: { name: 'relay', include: relayTests, isolate: false } },
      { extends: true, test: { name: 'packages', include: packageTests, isolate: false } },
      { extends: true, test: { name: 'system', include: systemTests, isolate: false } },
      {
        extends: true,
        test: {
          name: 'other',
          include: ['test/**/*.test.ts'],
          exclude: [...serverTests, ...relayTests, ...packageTests, ...systemTests, ...measuringTests],
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: measuringTests, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});

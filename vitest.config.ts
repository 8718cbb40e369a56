import { defineConfig } from 'vitest/config';

const serverTests = ['test/apps/server/**/*.test.ts'];
const relayTests = ['test/apps/{relay,vendors}/**/*.test.ts'];
// Tests of Markdown measure their own process's CPU time, so each file gets a process of its own.
const packageTests = ['test/packages/!(markdown)/**/*.test.ts', 'test/contracts/*.test.ts'];
// System tests start programs and browsers, and keep no state in their own process, so they can share it.
const systemTests = ['test/{system/!(attacks),browser}/**/*.test.ts', 'test/system/*.test.ts'];
// Attack tests measure the latency of other clients' requests, so no other test may use the cores.
const measuringTests = ['test/system/attacks/**/*.test.ts'];

export default defineConfig({
  resolve: { conditions: ['@waxwing/source'] },
  ssr: { resolve: { conditions: ['@waxwing/source'] } },
  test: {
    setupFiles: ['test/support/observe-answers.ts'],
    globalSetup: ['test/support/provoked-codes.ts'],
    // Tests mostly wait for processes and clocks: on two cores, three workers take a sixth less time than two.
    maxWorkers: 3,
    // Long timeouts, because tests start real processes and a shared machine can be busy.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      // Loading modules takes longer than many of these test files, so the files of one worker share them.
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

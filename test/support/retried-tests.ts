import type { Reporter, TestCase } from 'vitest/node';

/**
 * Reporter that lists, at the end of a run, each test that failed and then passed on a retry, with its first error. A
 * retry keeps the gate green on a machine that stalls, but must not hide a flaky test.
 */
export default class RetriedTests implements Reporter {
  readonly #retried: string[] = [];

  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    if (state !== 'passed' || (test.diagnostic()?.retryCount ?? 0) === 0) return;
    const [first] = errors ?? [];
    const reason = first?.stack ?? first?.message ?? 'without an error';
    this.#retried.push(`${test.module.relativeModuleId} > ${test.fullName}\n${reason}\n`);
  }

  onTestRunEnd(): void {
    if (this.#retried.length === 0) return;
    const title = `RETRIED TESTS: ${this.#retried.length} failed at first, and passed when repeated`;
    process.stderr.write(`\n${title}\n\n${this.#retried.join('\n')}\n`);
  }
}

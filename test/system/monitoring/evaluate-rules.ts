import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Series } from './incidents.js';

/** Path of the alert rules. */
export const rules = join(import.meta.dirname, '../../../deploy/prometheus/alerts.yml');

/** Expected result of an expression at a given minute: its samples, by labels. */
export interface ExpectedResult {
  readonly minute: number;
  readonly expression: string;
  readonly samples: readonly { readonly labels: string; readonly value: number }[];
}

/**
 * Evaluates the alert rules with Prometheus's promtool, on series with one value per minute. Returns the tool's output.
 */
export function evaluateRules(
  series: Series,
  expected: readonly ExpectedResult[],
): { readonly status: number | null; readonly output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-alerts-'));
  const test = {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: expected.map(({ minute, expression, samples }) => ({
      expr: expression,
      eval_time: `${minute}m`,
      exp_samples: samples,
    })),
  };
  try {
    const path = join(folder, 'tests.yml');
    // YAML is a superset of JSON.
    writeFileSync(path, JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests: [test] }));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' });
    return { status, output: `${stdout}${stderr}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

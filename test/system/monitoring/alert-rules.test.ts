import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { incidents, wellSeries } from './incidents.js';

const rules = join(import.meta.dirname, '../../../deploy/prometheus/alerts.yml');
const alertNames = [...readFileSync(rules, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

/** Runs Prometheus's own evaluation of the rules on recorded series, one value a minute. Returns its output. */
function evaluate(tests: readonly object[]): { status: number | null; output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-alerts-'));
  try {
    const path = join(folder, 'tests.yml');
    // promtool reads YAML, and every JSON text is YAML.
    writeFileSync(path, JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests }));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' });
    return { status, output: `${stdout}${stderr}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const inputSeries = (series: Readonly<Record<string, string>>) =>
  Object.entries(series).map(([name, values]) => ({ series: name, values }));

it('each alert has an incident that raises it', () => {
  expect([...new Set(incidents.map(({ alert }) => alert))].sort()).toEqual(alertNames.sort());
});

const firing = 'count by (alertname) (ALERTS{alertstate="firing"})';
const raises = (minute: number, alert: string | undefined) => ({
  expr: firing,
  eval_time: `${minute}m`,
  exp_samples: alert === undefined ? [] : [{ labels: `{alertname="${alert}"}`, value: 1 }],
});

it('nothing is raised while all is well', () => {
  const { status, output } = evaluate([
    {
      interval: '1m',
      input_series: inputSeries(wellSeries),
      promql_expr_test: [30, 60, 120].map((minute) => raises(minute, undefined)),
    },
  ]);
  expect(output).toContain('SUCCESS');
  expect(status).toBe(0);
});

it.each(incidents.map((incident) => [incident.name, incident] as const))(
  '%s raises its alert alone, and the alert ends with it',
  (_name, { alert, series, until }) => {
    const { status, output } = evaluate([
      {
        interval: '1m',
        input_series: inputSeries({ ...wellSeries, ...series }),
        promql_expr_test: [raises(9, undefined), raises(until, alert), raises(110, undefined)],
      },
    ]);
    expect(output).toContain('SUCCESS');
    expect(status).toBe(0);
  },
);

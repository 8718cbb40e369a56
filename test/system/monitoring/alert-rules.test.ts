import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type ExpectedResult, evaluateRules, rules } from './evaluate-rules.js';
import { incidents, wellSeries } from './incidents.js';

const alertNames = [...readFileSync(rules, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

it('each alert rule is raised by at least one incident', () => {
  expect([...new Set(incidents.map(({ alert }) => alert))].sort()).toEqual(alertNames.sort());
});

const raises = (minute: number, alert: string | undefined): ExpectedResult => ({
  minute,
  expression: 'count by (alertname) (ALERTS{alertstate="firing"})',
  samples: alert === undefined ? [] : [{ labels: `{alertname="${alert}"}`, value: 1 }],
});

it('no alert is raised without an incident', () => {
  const { status, output } = evaluateRules(
    wellSeries,
    [30, 60, 120].map((minute) => raises(minute, undefined)),
  );
  expect(output).toContain('SUCCESS');
  expect(status).toBe(0);
});

it('a key list with a short lifetime raises no alert while it is renewed', () => {
  const place = 'job="waxwing-relay",instance="relay:9001"';
  const { output } = evaluateRules(
    {
      ...wellSeries,
      [`waxwing_key_list_expiry_timestamp_seconds{${place}}`]: '86400x120',
      [`waxwing_key_list_issue_timestamp_seconds{${place}}`]: '-40000x120',
    },
    [raises(120, undefined)],
  );
  expect(output).toContain('SUCCESS');
});

it.each(incidents.map((incident) => [incident.name, incident] as const))(
  '%s raises only its own alert, until the incident ends',
  (_name, { alert, series, until }) => {
    const { status, output } = evaluateRules({ ...wellSeries, ...series }, [
      raises(9, undefined),
      raises(until, alert),
      raises(110, undefined),
    ]);
    expect(output).toContain('SUCCESS');
    expect(status).toBe(0);
  },
);

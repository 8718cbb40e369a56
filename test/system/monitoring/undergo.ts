import { expect } from 'vitest';
import { evaluateRules } from './evaluate-rules.js';
import type { Series } from './incidents.js';
import { seriesOf } from './raised-alerts.js';
import type { RelayIncident } from './relay-incidents.js';
import type { WatchedRelay } from './watched-relay.js';

/**
 * Provokes an incident and ends it. Expects that the metrics raise the alert, that the dashboard states cause and
 * remedy, that the check recovers, and that the log has one to five lines about the incident.
 */
export async function undergo(
  relay: WatchedRelay,
  { check, cause, alert, begin }: Pick<RelayIncident, 'check' | 'cause' | 'alert' | 'begin'>,
): Promise<void> {
  expect(await relay.wrong()).toEqual([]);
  const healthy = await relay.scrape();
  const before = relay.troubles().length;
  const end = await begin(relay);
  // Polls, because some checks use figures that are updated only periodically.
  const find = async () => (await relay.wrong()).find(({ name }) => name === check);
  await expect.poll(find, { timeout: 20_000, interval: 20 }).toBeDefined();
  const found = await find();
  expect(found?.cause).toMatch(cause);
  expect(found?.remedy).toMatch(/\w{4,}.*\.$/);
  if (alert !== undefined) expectAlert(alert, seriesOf(healthy, await relay.scrape(), 'waxwing-relay'));
  await end();
  const isOver = async () => {
    await relay.pass(1);
    return (await relay.wrong()).every(({ name }) => name !== check);
  };
  await expect.poll(isOver, { timeout: 20_000, interval: 20 }).toBe(true);
  const lines = relay.troubles().slice(before);
  expect(lines.length, JSON.stringify(lines.map(({ msg }) => msg))).toBeGreaterThanOrEqual(1);
  expect(lines.length, JSON.stringify(lines.map(({ msg }) => msg))).toBeLessThanOrEqual(5);
}

/** Expects that metrics that change at minute 10 raise the alert by minute 40, and not before the change. */
export function expectAlert(alert: string, series: Series): void {
  const expression = `count(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0`;
  const { output } = evaluateRules(series, [
    { minute: 9, expression, samples: [] },
    { minute: 40, expression, samples: [{ labels: '{}', value: 1 }] },
  ]);
  expect(output).toContain('SUCCESS');
}

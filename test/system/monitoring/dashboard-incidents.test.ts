import { describe, expect, it, onTestFinished } from 'vitest';
import { CuttableProxy } from '../../support/cuttable-proxy.js';
import { eachPostgres } from '../../support/test-databases.js';
import { type RelayIncident, relayIncidents } from './relay-incidents.js';
import { type WatchedRelay, watchRelay } from './watched-relay.js';

async function undergo(relay: WatchedRelay, { check, cause, begin }: RelayIncident): Promise<void> {
  expect(await relay.wrong()).toEqual([]);
  const before = relay.troubles().length;
  const end = await begin(relay);
  const found = (await relay.wrong()).find(({ name }) => name === check);
  expect(found?.cause).toMatch(cause);
  expect(found?.remedy).toMatch(/\w{4,}.*\.$/);
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

describe('the dashboard names cause and remedy, and the log has one to five lines, for', () => {
  it.each(relayIncidents.map((incident) => [incident.name, incident] as const))(
    '%s',
    async (_name, incident) => {
      const relay = await watchRelay({ environment: incident.environment ?? {} });
      onTestFinished(() => relay.close());
      await undergo(relay, incident);
    },
  );
});

eachPostgres((backend) => {
  it('a database that is down is named with its remedy, and the log has one to five lines', async () => {
    const url = new URL(await backend.freshUrl());
    const proxy = new CuttableProxy({ host: url.hostname, port: Number(url.port || 5432) });
    await proxy.open();
    onTestFinished(() => proxy.cut());
    const databaseUrl = Object.assign(url, { host: `127.0.0.1:${proxy.port}` }).href;
    const relay = await watchRelay({ databaseUrl });
    onTestFinished(() => relay.close());
    await undergo(relay, {
      name: 'a database that is down',
      check: 'database',
      cause: /the database does not answer/,
      async begin() {
        relay.waitForNoJobs();
        await proxy.cut();
        await relay.pass(3);
        return () => proxy.open();
      },
    });
  });
});

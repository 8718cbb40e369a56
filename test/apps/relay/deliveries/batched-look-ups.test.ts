import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { eachPostgres } from '../../../support/test-databases.js';
import { type DeliveriesUnderTest, fcmRequest, startDeliveriesUnderTest } from './deliveries-under-test.js';

const requests = 20;

// PostgreSQL only, because SQLite's readers bypass the code that counts statements in this test.
eachPostgres((backend) => {
  let relay: DeliveriesUnderTest;
  beforeAll(async () => {
    relay = await startDeliveriesUnderTest({ databaseUrl: await backend.freshUrl() });
  });
  afterAll(() => relay.close());

  it('looks up the devices of all requests in an event-loop tick with one query', async () => {
    const tokens = Array.from({ length: requests }, (_, index) => `fcm-of-one-turn-${index}`);
    const ids = await Promise.all(tokens.map((token) => relay.addFcm(token)));
    // A server's first request also looks up the server.
    await relay.notify([fcmRequest(await relay.addFcm('fcm-before'))]);
    const queries = vi.spyOn(relay.database.db.getExecutor(), 'executeQuery');
    const answers = await Promise.all(ids.map((id) => relay.notify([fcmRequest(id)])));
    const lookUps = queries.mock.calls.filter(([{ sql }]) =>
      /select .*"token".* from "relay_devices"/.test(sql),
    );
    queries.mockRestore();
    // At least one: a fast machine may handle all requests in one tick.
    expect(lookUps.length).toBeGreaterThan(0);
    expect(lookUps.length).toBeLessThan(requests / 2);
    expect(answers.flatMap(({ body }) => body.results.map(({ status }) => status))).toEqual(
      tokens.map(() => 'sent'),
    );
    for (const token of tokens) expect(await relay.arrived(token)).toHaveLength(1);
  });
});

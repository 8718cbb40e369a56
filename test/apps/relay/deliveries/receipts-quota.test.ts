import { relayReceiptsPath } from '@waxwing/protocol';
import { expect, it } from 'vitest';
import { startDeliveriesUnderTest } from './deliveries-under-test.js';

it('charges one unit of the quota for an invalid receipts request', async () => {
  const time = { now: Date.UTC(2026, 0, 5, 12) };
  const relay = await startDeliveriesUnderTest({
    clock: () => time.now,
    environment: { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '60' },
  });
  try {
    const { app, authorization } = relay;
    const ask = () => app.inject({ url: `${relayReceiptsPath}?ids=7`, headers: { authorization } });
    for (let count = 0; count < 60; count += 1) expect((await ask()).json().code).toBe('BAD_REQUEST');
    const refused = await ask();
    expect([refused.statusCode, refused.json().code]).toEqual([503, 'RATE_LIMIT_HIT']);
  } finally {
    await relay.close();
  }
});

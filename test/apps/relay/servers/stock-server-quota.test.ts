import { expect, it } from 'vitest';
import { sqliteBackend } from '../../../support/test-databases.js';
import { startRelayUnderTest } from '../relay-under-test.js';

const backend = sqliteBackend();

it('requests from a stock server’s jobs use its quota, and get 503 when it is used up', async () => {
  const relay = await startRelayUnderTest(await backend.freshUrl(), {
    RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '1',
  });
  const ask = async (method: 'GET' | 'POST', path: string) => {
    const { statusCode, body } = await relay.app.inject({
      method,
      url: `/api/v1/remotes/${path}`,
      headers: { authorization: relay.authorization, 'content-type': 'application/json' },
      ...(method === 'POST' && { payload: '{}' }),
    });
    return [statusCode, JSON.parse(body).code];
  };
  expect(await ask('GET', 'server/analytics/status')).toEqual([200, undefined]);
  const refused = [503, 'RATE_LIMIT_HIT'];
  expect(await ask('GET', 'server/analytics/status')).toEqual(refused);
  for (const path of [
    'server/analytics',
    'push/register',
    'push/unregister',
    'push/unregister/all',
    'push/notify',
    'push/test_notification',
  ])
    expect([path, await ask('POST', path)]).toEqual([path, refused]);
  await relay.close();
});

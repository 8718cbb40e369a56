import { describe, expect, it } from 'vitest';
import { createPhone } from './phone.js';

describe('A registrar', () => {
  it('requests a test notification for this phone only', async () => {
    const { server, registrar } = await createPhone();
    const { pushAccountId } = await registrar.sync();
    await registrar.sendTestNotification();
    const [request] = server.requestsTo('mobile_push/e2ee/test_notification');
    expect(request?.fields.get('push_account_id')).toBe(String(pushAccountId));
  });

  it('requests no test notification before the account is registered', async () => {
    const { server, registrar } = await createPhone();
    await expect(registrar.sendTestNotification()).rejects.toThrow('call sync first');
    expect(server.requests).toEqual([]);
  });

  it('deletes the key pair at sign-out, and the registrar of the next sign-in generates a new key pair', async () => {
    const { server, accounts, client, registrar } = await createPhone();
    await registrar.sync();
    await registrar.forget();
    expect(await accounts.list()).toEqual([]);
    const { url: realmUrl, userId, email, apiKey } = server;
    await client.registrar({ realmUrl, userId, email, apiKey }).sync();
    const [first, second] = server.registrations;
    expect(second).toBeDefined();
    expect(second?.pushPublicKey).not.toBe(first?.pushPublicKey);
    expect(second?.pushAccountId).not.toBe(first?.pushAccountId);
  });

  it('registers nothing after forget, not even if it was created earlier or is syncing', async () => {
    const { server, accounts, client, registrar } = await createPhone();
    const { url: realmUrl, userId, email, apiKey } = server;
    const ofTokenListener = client.registrar({ realmUrl: `${realmUrl}/`, userId, email, apiKey });
    const syncing = registrar.sync();
    await expect.poll(() => server.requests.length).toBeGreaterThan(0);
    const forgotten = registrar.forget();
    const statuses = await Promise.all([syncing, registrar.sync(), ofTokenListener.sync()]);
    await forgotten;
    expect(statuses.map(({ code }) => code)).toEqual(['active', 'forgotten', 'forgotten']);
    expect(statuses[1]?.warning).toContain('create a new registrar when the user signs in again');
    expect(await accounts.list()).toEqual([]);
    expect(server.devices.size).toBe(0);
  });

  it('keeps accounts apart by organization and user', async () => {
    const { server, accounts, client, registrar } = await createPhone();
    const other = client.registrar({
      realmUrl: `${server.url}:443/`,
      userId: 11,
      email: 'ophelia@example.com',
      apiKey: server.apiKey,
    });
    const same = client.registrar({
      realmUrl: `${server.url}:443/`,
      userId: 10n,
      email: server.email,
      apiKey: server.apiKey,
    });
    await registrar.sync();
    await other.sync();
    await same.sync();
    expect(await accounts.list()).toHaveLength(2);
    expect(server.registrations).toHaveLength(2);
  });

  it.each([
    ['http://chat.example.com', 10, 'https'],
    ['chat.example.com', 10, 'absolute URL'],
    ['https://chat.example.com', 1.5, 'userId'],
  ])('cannot be created for %s and user %d', async (realmUrl, userId, message) => {
    const { client } = await createPhone();
    expect(() => client.registrar({ realmUrl, userId, email: 'e', apiKey: 'k' })).toThrow(message);
  });
});

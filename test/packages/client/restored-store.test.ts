import { createMemoryPushAccountStore, type PushToken } from '@waxwing/client';
import { expect, it } from 'vitest';
import { createPhone } from './phone.js';

const token = (name: string): PushToken => ({ tokenKind: 'fcm', token: name });

/**
 * Creates a phone, and a second phone with a restored copy of the first phone's account store. Both use the same
 * server.
 */
async function restored() {
  const first = await createPhone();
  const { server, bouncerPublicKey } = first;
  first.knobs.token = token('of-the-first');
  await first.registrar.sync();
  const accounts = createMemoryPushAccountStore();
  for (const account of await first.accounts.list()) await accounts.put(account);
  const second = await createPhone({
    accounts,
    bouncerPublicKey,
    fetch: server.fetch,
    clock: () => server.now,
    pushToken: () => token('of-the-second'),
  });
  const { realmUrl, userId } = (await accounts.list())[0] ?? { realmUrl: '', userId: 0 };
  const { email, apiKey } = server;
  const registrar = second.client.registrar({ realmUrl, userId, email, apiKey });
  return { server, first, second: { accounts, registrar } };
}

it('two phones with a copied account store both report active, but only the later registration is', async () => {
  const { server, first, second } = await restored();
  server.now += 1000;
  await expect(second.registrar.sync()).resolves.toMatchObject({ code: 'active' });
  expect(server.devices.size).toBe(1);
  const [earlier, later] = server.registrations.map(({ registration }) => registration);
  expect(later).toMatchObject({ token: 'of-the-second' });
  expect(Number(later?.sequence)).toBeGreaterThan(Number(earlier?.sequence));
  await expect(first.registrar.sync()).resolves.toMatchObject({ code: 'active' });
  expect(server.registrations).toHaveLength(2);
});

it('two phones with a copied account store both get notifications after the copy was emptied', async () => {
  const { server, first, second } = await restored();
  for (const { pushAccountId } of await second.accounts.list()) await second.accounts.remove(pushAccountId);
  for (const { registrar } of [second, first]) {
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
  }
  expect(server.devices.size).toBe(2);
  expect(server.registrations.map(({ registration }) => registration.token)).toEqual([
    'of-the-first',
    'of-the-second',
  ]);
});

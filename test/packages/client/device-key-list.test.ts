import { describe, expect, it } from 'vitest';
import { createFollowingPhone, second, third } from './following-phone.js';

/** Creates a phone that follows key lists, with a server of the newer generation. */
async function createPhone() {
  const phone = await createFollowingPhone();
  phone.server.featureLevel = 500;
  const sealedTo = () => phone.server.clientDevices.opened.map(({ bouncerPublicKey }) => bouncerPublicKey);
  return { ...phone, sealedTo };
}

describe('A phone of the newer generation', () => {
  it('registers again for a new primary key, with a new push key so that the server forwards the registration', async () => {
    const { server, registrar, publish, sealedTo, accounts } = await createPhone();
    publish({ primary: second });
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active', keySource: 'key-list' });
    server.now += 1000;
    publish({ primary: third, accepted: [second] });
    for (let syncs = 0; syncs < 2; syncs += 1) {
      await expect(registrar.sync()).resolves.toMatchObject({ code: 'active', keySource: 'key-list' });
    }
    expect(sealedTo()).toEqual([second, third]);
    const [account] = await accounts.list();
    expect(account?.device?.pushKeys).toHaveLength(2);
    expect(server.clientDevices.rows.size).toBe(1);
  });

  it('refetches the list after a refused key and registers again in the same sync, once per list', async () => {
    const { server, registrar, publish, clientRequests } = await withRefusal();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(clientRequests()).toBe(2);
    server.bouncerKeys.delete(third);
    server.now += 1000;
    publish({ primary: third, accepted: [second] });
    server.clientDevices.clearToken(10, [...server.clientDevices.rows.values()][0]?.push_token_id ?? '');
    for (let syncs = 0; syncs < 3; syncs += 1) await registrar.sync();
    // Two more requests: one because of the cleared token, and one because of the newly fetched list.
    expect(clientRequests()).toBe(4);
  });

  /** A phone whose relay has dropped the key in the phone's first list. */
  async function withRefusal() {
    const phone = await createPhone();
    const { server, publish } = phone;
    publish({ primary: second });
    server.bouncerKeys.delete(second);
    server.overrides.set('/api/v1/events', () => {
      server.now += 1000;
      publish({ primary: third, accepted: [second] });
      server.overrides.clear();
      return undefined;
    });
    const clientRequests = () => server.requestsTo('mobile_push/register').length;
    return { ...phone, clientRequests };
  }
});

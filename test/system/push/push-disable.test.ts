import { allAccounts, enabledAccount } from '@waxwing/server-push';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';
import { PushWorld, type WorldUser } from './push-world.js';

eachBackend((backend) => {
  let world: PushWorld;
  let ada: WorldUser;
  beforeAll(async () => {
    world = await PushWorld.create(await backend.freshUrl());
    ada = await world.addUser('ada');
    const invitation = await world.invite();
    await world.runJson(['push', 'enable', '--relay', world.relayUrl, '--invitation', invitation]);
    await vi.waitUntil(isConfigured, 10_000);
    expect(await world.registerPhones(ada)).toEqual(['active', 'active']);
  }, 60_000);
  afterAll(() => world.close());

  const account = () => enabledAccount(world.server.database.db);
  const works = async () => (await world.status()).checks.filter(({ ok }) => !ok);

  it('push disable stops push in every process, and push enable returns as the same server', async () => {
    const before = await account();
    expect(await world.runJson(['push', 'disable', '--yes'])).toMatchObject({ left_relay: true });
    await expect.poll(isConfigured).toBe(false);
    expect(await stateAtRelay()).toBe('deactivated');
    expect((await world.status()).checks[0]).toMatchObject({
      cause: expect.stringContaining('was disabled'),
    });
    await world.runJson(['push', 'enable', '--relay', world.relayUrl]);
    await expect.poll(isConfigured).toBe(true);
    expect((await account())?.server_id).toBe(before?.server_id);
    expect(await stateAtRelay()).toBe('active');
    const { code, printed } = await world.run(['push', 'test', '--user', ada.email]);
    expect([code, printed]).toEqual([0, '2 sent.']);
  });

  it('push enable and push disable notify all clients, even if the relay had switched push off', async () => {
    const eve = await world.addUser('eve');
    const { queue_id } = await ask(eve, 'POST', 'register', { event_types: '["realm"]' });
    const query = { queue_id: String(queue_id), last_event_id: '-1', dont_block: 'true' };
    const values = async () =>
      ((await ask(eve, 'GET', 'events', query)).events as Record<string, unknown>[])
        .filter(({ property }) => property === 'push_notifications_enabled')
        .map(({ value }) => value);
    await world.runJson(['push', 'disable', '--yes']);
    await expect.poll(values).toEqual([false]);
    await world.runJson(['push', 'enable', '--relay', world.relayUrl]);
    await expect.poll(values).toEqual([false, true]);
    await world.server.database.write(({ db }) =>
      db.updateTable('relay_link').set({ can_push: 0 }).execute(),
    );
    await world.server.database.write(({ db }) =>
      db.updateTable('published_push_status').set({ can_push: 0 }).execute(),
    );
    await world.runJson(['push', 'enable', '--relay', world.relayUrl]);
    await expect.poll(values).toEqual([false, true, true]);
  });

  it('push disable stops push while the relay is down, and finishes when it is run again', async () => {
    await world.stopRelay();
    const { code, printed, said } = await world.run(['push', 'disable', '--yes']);
    expect([code, printed]).toEqual([1, expect.stringContaining('Push is disabled.')]);
    expect(said).toContain('run waxwing-server push disable again later');
    await expect.poll(isConfigured).toBe(false);
    const [check] = (await world.status()).checks;
    expect(check).toMatchObject({ remedy: expect.stringContaining('push disable again to finish') });
    await world.startRelay();
    expect(await stateAtRelay()).toBe('active');
    expect(await world.runJson(['push', 'disable', '--yes'])).toMatchObject({ left_relay: true });
    expect(await stateAtRelay()).toBe('deactivated');
    const again = await world.run(['push', 'disable', '--yes']);
    expect([again.code, again.said]).toEqual([1, expect.stringContaining('nothing was changed')]);
    await world.runJson(['push', 'enable', '--relay', world.relayUrl]);
    expect(await works()).toEqual([]);
  });

  it('push enable does not reactivate a suspended server', async () => {
    const id = (await account())?.server_id ?? '';
    await world.runJson(['push', 'disable', '--yes']);
    await world.operateJson(['servers', 'suspend', id, '--yes']);
    const { code, said } = await world.run(['push', 'enable', '--relay', world.relayUrl]);
    expect([code, said]).toEqual([1, expect.stringContaining('has suspended your server')]);
    await world.operateJson(['servers', 'resume', id]);
    await world.runJson(['push', 'enable', '--relay', world.relayUrl]);
    expect(await works()).toEqual([]);
  });

  it('push disable --forget leaves the relay and ends all phones’ registrations', async () => {
    const { db } = world.server.database;
    // Fails, because this address is not a relay. The account at the current relay must survive the failure.
    expect((await world.run(['push', 'enable', '--relay', world.serverUrl])).code).toBe(1);
    const id = (await account())?.server_id;
    const left = await world.runJson<Record<string, unknown>>(['push', 'disable', '--forget', '--yes']);
    expect(left).toMatchObject({ left_relay: true, forgotten: true, registrations_ended: 2 });
    expect(await allAccounts(db)).toEqual([]);
    const active = [
      ...(await db.selectFrom('client_devices').select('push_token_id as of').execute()),
      ...(await db.selectFrom('push_devices').select('relay_device_id as of').execute()),
    ];
    expect(active.filter(({ of }) => of !== null)).toEqual([]);
    const { code, said } = await world.run(['push', 'enable', '--relay', world.relayUrl]);
    expect([code, said]).toEqual([1, expect.stringContaining('already exists')]);
    const transfer = await world.run(['push', 'enable', '--relay', world.relayUrl, '--transfer']);
    expect([transfer.code, transfer.said]).toEqual([1, expect.stringContaining('servers resume')]);
    await world.operateJson(['servers', 'resume', String(id)]);
    const noHost = await world.run(['push', 'enable', '--relay', world.relayUrl, '--transfer']);
    expect(noHost.said).toContain('RELAY_SERVER_REGISTRATION_PRIVATE_HOSTS=on');
  });

  async function stateAtRelay(): Promise<string> {
    const accounts = await allAccounts(world.server.database.db);
    const id = accounts.find(({ url }) => url === world.relayUrl)?.server_id ?? '';
    return (await world.operateJson<{ state: string }>(['servers', 'show', id])).state;
  }

  async function ask(
    { email, api_key }: WorldUser,
    method: 'GET' | 'POST',
    path: string,
    fields: Record<string, string>,
  ): Promise<Record<string, unknown>> {
    const form = new URLSearchParams(fields);
    const url = `${world.serverUrl}/api/v1/${path}`;
    const response = await fetch(method === 'GET' ? `${url}?${form}` : url, {
      method,
      headers: { authorization: `Basic ${btoa(`${email}:${api_key}`)}` },
      ...(method === 'POST' && { body: form }),
    });
    return (await response.json()) as Record<string, unknown>;
  }

  async function isConfigured(): Promise<boolean> {
    const response = await fetch(`${world.serverUrl}/api/v1/server_settings`);
    return ((await response.json()) as { push_notifications_enabled: boolean }).push_notifications_enabled;
  }
});

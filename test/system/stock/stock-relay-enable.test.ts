import { afterAll, beforeAll, expect, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';
import { askByHttp } from './ask-servers.js';
import { StockApp } from './stock-app.js';
import { newToken } from './stock-devices-of.js';
import { StockPhone } from './stock-phone.js';
import { StockRelayWorld } from './stock-relay-world.js';
import type { WorldUser } from './stock-world.js';

eachBackend((backend) => {
  let world: StockRelayWorld;
  let owner: WorldUser;
  let sender: WorldUser;
  let app: StockApp;
  beforeAll(async () => {
    world = await StockRelayWorld.create({ isKnown: false, databaseUrl: await backend.freshUrl() });
    owner = await world.addUser('owner', 'owner');
    sender = await world.addUser('sender');
  });
  afterAll(() => world.close());

  /** The relay's row of our server. */
  const atRelay = () => [...world.relay.servers.known].find(([id]) => id !== world.relay.serverId);
  const enable = (...flags: string[]) =>
    world.command('push', 'enable', '--relay', world.relay.url, '--contact', 'a@system.example', ...flags);
  const isConfigured = async () =>
    (await askByHttp(world.serverUrl)('GET', 'server_settings', {}, undefined)).body
      .push_notifications_enabled;

  async function expectPush(): Promise<void> {
    world.relay.takeDeliveries();
    const before = app.shown.size;
    await world.sendMessage(sender, owner);
    await world.idle();
    for (const { token, body } of world.relay.takeDeliveries()) {
      if (token === app.phone.token) app.receive(body);
    }
    expect(app.shown.size).toBe(before + 1);
  }

  it('push enable prints the stock relay’s error for an invalid address', async () => {
    const { code, text } = await world.command('push', 'enable', '--relay', world.relay.url);
    expect([code, text]).toEqual([1, expect.stringContaining('Invalid server administrator email address')]);
    expect(text).toContain('--contact');
  });

  it('push enable joins a stock relay, and a phone then opens and shows a notification', async () => {
    const { code, text } = await enable();
    expect([code, text]).toEqual([0, expect.stringContaining('phones use the key in the app')]);
    await expect.poll(isConfigured).toBe(true);
    const { bouncerPublicKey } = world.relay;
    const phone = new StockPhone({
      token: newToken('fcm'),
      kind: 'fcm',
      bouncerPublicKey,
      clock: world.clock,
    });
    app = new StockApp({ ask: askByHttp(world.serverUrl), phone, realmUrl: world.serverUrl });
    await app.signIn(owner.email, owner.password);
    await app.start();
    await world.idle();
    await app.poll();
    expect(app.isSettled).toBe(true);
    await expectPush();
    const status = await world.command('push', 'status');
    expect([status.code, status.text]).toEqual([0, expect.not.stringContaining('FAILED')]);
  });

  it('push enable keeps the credentials when it is run again, and ends with a test notification', async () => {
    const before = structuredClone(atRelay());
    const { code, text } = await enable();
    expect([code, text]).toEqual([0, expect.stringContaining('Test: 1 sent.')]);
    expect(atRelay()).toEqual(before);
  });

  it('push rotate-credentials replaces the key at the relay and in the running server', async () => {
    const before = atRelay()?.[1].key;
    const { code } = await world.command('push', 'rotate-credentials');
    expect([code, atRelay()?.[1].key === before]).toEqual([0, false]);
    await world.startServer();
    await expectPush();
    expect((await world.command('push', 'status')).code).toBe(0);
  });

  it('push disable stops push in the running server, but does not deactivate it at the relay', async () => {
    const { code, text } = await world.command('push', 'disable', '--yes');
    expect([code, text]).toEqual([0, expect.stringContaining('stays registered')]);
    await expect.poll(isConfigured).toBe(false);
    // A deactivated server could not reactivate itself at a stock relay.
    expect(atRelay()?.[1].isDeactivated).toBe(false);
    const requests = world.relay.requests.length;
    await world.sendMessage(sender, owner);
    await world.idle();
    expect(world.relay.requests).toHaveLength(requests);
  });

  it('push enable returns to the stock relay as the same server', async () => {
    const before = atRelay()?.[0];
    const { code } = await enable();
    expect([code, atRelay()?.[0]]).toEqual([0, before]);
    await expect.poll(isConfigured).toBe(true);
    await expectPush();
  });

  it('push enable reports that the relay has switched push off, and the server asks until push is on again', async () => {
    const authorization = `Basic ${btoa(`${owner.email}:${owner.apiKey}`)}`;
    const isOn = async () =>
      (await askByHttp(world.serverUrl)('POST', 'register', {}, authorization)).body
        .realm_push_notifications_enabled;
    await world.command('push', 'disable', '--yes');
    world.relay.servers.pushStatus = { can_push: false, expected_end_timestamp: null };
    // Without a phone, no test notification can reveal that push is off.
    await app.logOut();
    await world.idle();
    const { code, text } = await enable();
    expect([code, text]).toEqual([0, expect.stringContaining('has switched push off for the organization')]);
    await expect.poll(isConfigured).toBe(true);
    expect(await isOn()).toBe(false);
    world.relay.servers.pushStatus = { can_push: true, expected_end_timestamp: null };
    await world.pass(6 * 60_000);
    expect(await isOn()).toBe(true);
    await app.signIn(owner.email, owner.password);
    await app.start();
    await world.idle();
    await app.poll();
    await expectPush();
  });

  it('push enable --transfer recovers the host’s registration after the server lost its credentials', async () => {
    const before = atRelay();
    const key = before?.[1].key;
    await world.server.database.write(({ db }) => db.deleteFrom('relay_accounts').execute());
    const refused = await enable();
    expect([refused.code, refused.text]).toEqual([1, expect.stringContaining('already exists')]);
    const { code, text } = await enable('--transfer');
    expect([code, text]).toEqual([0, expect.stringContaining('Test: 1 sent.')]);
    expect([atRelay()?.[0], atRelay()?.[1].key === key]).toEqual([before?.[0], false]);
    await world.startServer();
    await expectPush();
  });

  it('push disable --forget ends the server’s registration at the relay permanently', async () => {
    const { code, text } = await world.command('push', 'disable', '--forget', '--yes');
    expect([code, text]).toEqual([0, expect.stringContaining('1 phone must register again')]);
    expect(atRelay()?.[1].isDeactivated).toBe(true);
    await app.poll();
    expect(app.device).toMatchObject({ push_token_id: null });
    const again = await enable();
    expect([again.code, again.text]).toEqual([1, expect.stringContaining('already exists')]);
  });
});

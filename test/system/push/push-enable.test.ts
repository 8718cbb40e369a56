import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { keyListPath } from '@waxwing/protocol';
import { enabledAccount } from '@waxwing/server-push';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RelayStandIn, refused } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';
import { PushWorld, type WorldUser } from './push-world.js';

eachBackend((backend) => {
  let world: PushWorld;
  let ada: WorldUser;
  beforeAll(async () => {
    world = await PushWorld.create(await backend.freshUrl());
    ada = await world.addUser('ada');
  }, 60_000);
  afterAll(() => world.close());

  const account = () => enabledAccount(world.server.database.db);
  const works = async () => (await world.status()).checks.filter(({ ok }) => !ok);

  describe('push commands of a server', () => {
    it('push status suggests push enable while phones get PUSH_SERVICE_NOT_CONFIGURED', async () => {
      const answer = await register('{}');
      expect(answer).toMatchObject({ code: 'PUSH_SERVICE_NOT_CONFIGURED' });
      const { code, checks } = await world.status();
      expect(code).toBe(1);
      expect(checks[0]).toMatchObject({
        check: 'configuration',
        ok: false,
        remedy: expect.stringContaining('push enable --relay URL'),
      });
    });

    it('push enable without an invitation prints the relay’s error and enables no relay', async () => {
      const { code, said } = await world.run(['push', 'enable', '--relay', world.relayUrl]);
      expect([code, said]).toEqual([
        1,
        expect.stringContaining('This relay admits new servers by invitation'),
      ]);
      expect(await account()).toBeUndefined();
      const { checks } = await world.status();
      expect(checks[0]).toMatchObject({ cause: expect.stringContaining('did not finish'), ok: false });
    });

    it('push enable with an invitation joins and pins the signing key, and phones can register without a restart', async () => {
      const invitation = await world.invite();
      const { signing_public_key: signing } = await world.operateJson<{ signing_public_key: string }>([
        ...['keys', 'export-public'],
      ]);
      const joined = await world.runJson<Record<string, unknown>>([
        ...['push', 'enable', '--relay', world.relayUrl, '--invitation', invitation],
      ]);
      expect(joined).toMatchObject({
        relay_url: world.relayUrl,
        hostname: `127.0.0.1:${world.serverPort}`,
        contact_email: ada.email,
        created: true,
        signing_public_key: signing,
        test: null,
      });
      const { checks } = await world.status();
      expect(checks.find(({ check }) => check === 'last exchange')?.cause).toMatch(
        /It succeeded at|No serving process has sent the relay a request yet; the relay has answered this command/,
      );
      await expect.poll(() => isConfigured()).toBe(true);
      expect(await world.registerPhones(ada)).toEqual(['active', 'active']);
      expect(await works()).toEqual([]);
    });

    it('push enable encrypts the stored key with a key file of mode 0600', async () => {
      const row = await account();
      const keyFile = join(world.dir, 'waxwing-server.key');
      expect(statSync(keyFile).mode & 0o777).toBe(0o600);
      expect(row?.sealed_key).not.toContain(readFileSync(keyFile, 'utf8').trim());
      expect(Buffer.from(row?.sealed_key ?? '', 'base64').toString('latin1')).not.toMatch(/[0-9a-f]{64}/);
    });

    it('push enable is idempotent: it keeps the credentials and ends with a test notification', async () => {
      const before = await account();
      const again = await world.runJson<Record<string, unknown>>([
        'push',
        'enable',
        '--relay',
        world.relayUrl,
      ]);
      expect(again).toMatchObject({ created: false, test: { sent: 2, not_sent: [], problem: null } });
      expect(await account()).toMatchObject({ server_id: before?.server_id, sealed_key: before?.sealed_key });
    });

    it('push test prints how many phones it reached, and why others failed', async () => {
      const { code, printed } = await world.run(['push', 'test', '--user', ada.email]);
      expect([code, printed]).toEqual([0, '2 sent.']);
      world.writeApps(['apns']);
      await world.relay.context.deliveries.reloadCredentials();
      const rejected = await world.run(['push', 'test', '--user', ada.email]);
      expect([rejected.code, rejected.printed]).toEqual([
        1,
        expect.stringContaining('1 sent, 1 rejected: the relay has no credentials for the app of the phone.'),
      ]);
      world.writeApps(['fcm', 'apns']);
      await world.relay.context.deliveries.reloadCredentials();
    });

    it('push rotate-credentials changes the key in every process, and recovers from a lost response', async () => {
      const before = await account();
      await world.runJson(['push', 'rotate-credentials']);
      const after = await account();
      expect(after?.sealed_key).not.toBe(before?.sealed_key);
      expect(after?.sealed_new_key).toBeNull();
      expect(await works()).toEqual([]);
      // Simulates a command that was interrupted before it could record that the relay had accepted the key.
      await world.server.database.write(({ db }) =>
        db
          .updateTable('relay_accounts')
          .set({ sealed_key: before?.sealed_key ?? '', sealed_new_key: after?.sealed_key ?? '' })
          .execute(),
      );
      await world.runJson(['push', 'rotate-credentials']);
      expect((await account())?.sealed_key).toBe(after?.sealed_key);
      expect(await works()).toEqual([]);
    });

    it('push rotate-credentials recovers after the relay has dropped the previous key', async () => {
      const former = (await account())?.sealed_key ?? '';
      await world.runJson(['push', 'rotate-credentials']);
      const current = (await account())?.sealed_key ?? '';
      await world.server.database.write(({ db }) =>
        db.updateTable('relay_accounts').set({ sealed_key: former, sealed_new_key: current }).execute(),
      );
      world.ahead.relay = 11 * 60_000;
      await world.runJson(['push', 'rotate-credentials']);
      expect(await account()).toMatchObject({ sealed_key: current, sealed_new_key: null });
      expect(await works()).toEqual([]);
      world.ahead.relay = 0;
    });

    it('push enable recovers after the relay has dropped the previous key', async () => {
      const former = (await account())?.sealed_key ?? '';
      await world.runJson(['push', 'rotate-credentials']);
      const current = (await account())?.sealed_key ?? '';
      await world.server.database.write(({ db }) =>
        db.updateTable('relay_accounts').set({ sealed_key: former, sealed_new_key: current }).execute(),
      );
      world.ahead.relay = 11 * 60_000;
      await world.runJson(['push', 'enable', '--relay', world.relayUrl]);
      expect(await account()).toMatchObject({ sealed_key: current, sealed_new_key: null });
      expect(await works()).toEqual([]);
      world.ahead.relay = 0;
    });

    it('push enable leaves the account unchanged if the relay refuses it', async () => {
      const before = await account();
      const hostname = 'taken.example.org';
      const other = await joinAs(hostname);
      expect(other).toBe(200);
      const { code, said } = await world.run([
        ...['push', 'enable', '--relay', world.relayUrl],
        ...['--hostname', hostname, '--contact', 'other@system.example'],
      ]);
      expect([code, said]).toEqual([1, expect.stringContaining(`${hostname} already exists`)]);
      expect(await account()).toEqual({ ...before, changed_at: expect.any(Number) });
      await world.runJson(['push', 'rotate-credentials']);
    });

    it('push enable rejects a relay that hides its key list after a signing key was pinned', async () => {
      const before = await account();
      const relay = await RelayStandIn.start();
      relay.otherwise(({ path }) =>
        path === keyListPath
          ? refused(404, 'NOT_FOUND')
          : { status: 200, body: { result: 'success', msg: '', created: false, realms: {} } },
      );
      const pinned = Buffer.alloc(32).toString('base64');
      await world.run(['push', 'enable', '--relay', relay.url]);
      const { db } = world.server.database;
      await db
        .updateTable('relay_accounts')
        .set({ signing_public_key: pinned })
        .where('url', '=', relay.url)
        .execute();
      const { code, said } = await world.run(['push', 'enable', '--relay', relay.url]);
      expect([code, said]).toEqual([1, expect.stringContaining('no longer publishes a key list')]);
      await relay.close();
      await world.runJson(['push', 'enable', '--relay', world.relayUrl]);
      expect((await account())?.server_id).toBe(before?.server_id);
    });

    it('a stored account survives a restart of the server', async () => {
      await world.stopServer();
      await world.startServer();
      expect(await isConfigured()).toBe(true);
    });

    it('push enable keeps the current relay if it cannot join another', async () => {
      const { code } = await world.run(['push', 'enable', '--relay', 'http://127.0.0.1:9']);
      expect(code).toBe(1);
      expect((await account())?.url).toBe(world.relayUrl);
    });

    it('push commands do not change an account from the environment, which takes precedence', async () => {
      const settings = {
        SERVER_RELAY_URL: 'https://relay.example',
        SERVER_RELAY_SERVER_ID: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
        SERVER_RELAY_SERVER_KEY_FILE: join(world.dir, 'waxwing-server.key'),
      };
      const enable = ['push', 'enable', '--relay', world.relayUrl];
      for (const args of [enable, ['push', 'disable', '--yes'], ['push', 'rotate-credentials']]) {
        const { code, said } = await world.run(args, settings);
        expect([code, said]).toEqual([1, expect.stringContaining('take precedence')]);
      }
    });

    it.each([
      [['--relay', 'relay.example'], 'not the address of a relay'],
      [['--relay', 'http://relay.example'], 'plain http to another machine'],
      [['--relay', 'https://:hidden@relay.example'], 'looks like a secret'],
      [['--relay', 'https://relay.example/#push'], 'not the address of a relay'],
    ])('push enable rejects %j and explains why', async (flags, sentence) => {
      const { code, said } = await world.run(['push', 'enable', ...flags]);
      expect([code, said]).toEqual([1, expect.stringContaining(sentence)]);
    });
  });

  async function register(fields: string): Promise<unknown> {
    const response = await fetch(`${world.serverUrl}/api/v1/mobile_push/register`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${ada.email}:${ada.api_key}`)}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ device_id: '1', push_key_id: '1', push_key: fields }).toString(),
    });
    return response.json();
  }

  /** Registers a hostname with the relay as another server. Returns the HTTP status. */
  async function joinAs(hostname: string): Promise<number> {
    const { status } = await fetch(`${world.relayUrl}/api/v1/remotes/server/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        zulip_org_id: randomUUID(),
        zulip_org_key: 'k'.repeat(64),
        hostname,
        contact_email: 'ada@chat.example.net',
        invitation: await world.invite(),
      }).toString(),
    });
    return status;
  }

  async function isConfigured(): Promise<boolean> {
    const response = await fetch(`${world.serverUrl}/api/v1/server_settings`);
    return ((await response.json()) as { push_notifications_enabled: boolean }).push_notifications_enabled;
  }
});

import { rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { allAccounts, enabledAccount } from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { showSecret } from '#server-push/relay-account/host-challenge.js';
import { makeTlsIdentity } from '#vendors/credentials/make-certificate.js';
import { eachBackend } from '../../support/test-databases.js';
import { PushWorld, type WorldUser } from './push-world.js';

const name = 'chat.example.org';
const verifyPath = '/api/v1/zulip-services/verify/';

eachBackend((backend) => {
  let world: PushWorld;
  let ada: WorldUser;
  let front: Server;
  let hostname: string;
  /** Paths that the relay has requested from the host. */
  const paths: string[] = [];

  beforeAll(async () => {
    world = await PushWorld.create(await backend.freshUrl());
    ada = await world.addUser('ada');
    const { ca, certificate, privateKey } = await makeTlsIdentity([name]);
    // Terminates TLS in front of the server, as a proxy does.
    front = createServer({ cert: certificate, key: privateKey }, (incoming, answer) => {
      const { method, url: path = '' } = incoming;
      paths.push(path);
      const passed = request({ host: '127.0.0.1', port: world.serverPort, method, path }, (from) => {
        answer.writeHead(from.statusCode ?? 502, from.headers);
        from.pipe(answer);
      });
      passed.on('error', () => answer.writeHead(502).end()).end();
    });
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    hostname = `${name}:${(front.address() as AddressInfo).port}`;
    const lookUp = async () => [{ address: '127.0.0.1', family: 4 }];
    const hostNetwork = { authority: ca, deadlineMilliseconds: 5000, lookUp };
    await world.stopRelay();
    await world.startRelay({ RELAY_SERVER_REGISTRATION_PRIVATE_HOSTS: 'on' }, { hostNetwork });
    const enable = ['push', 'enable', '--relay', world.relayUrl, '--hostname', hostname];
    await world.runJson([...enable, '--invitation', await world.invite()]);
    await vi.waitUntil(isConfigured, 15_000);
    expect(await world.registerPhones(ada)).toEqual(['active', 'active']);
  }, 90_000);
  afterAll(async () => {
    front.closeAllConnections();
    front.close();
    await world.close();
  });

  async function isConfigured(): Promise<boolean> {
    const response = await fetch(`${world.serverUrl}/api/v1/server_settings`);
    return ((await response.json()) as { push_notifications_enabled: boolean }).push_notifications_enabled;
  }
  const account = () => enabledAccount(world.server.database.db);
  const transfer = (host = hostname) =>
    world.run(['push', 'enable', '--relay', world.relayUrl, '--transfer', '--hostname', host]);
  const ask = async (path: string) => {
    const response = await fetch(`${world.serverUrl}${verifyPath}${path}`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const notPrepared = { status: 400, body: { code: 'REMOTE_SERVER_VERIFICATION_SECRET_NOT_PREPARED' } };

  it('push enable --transfer recovers the host’s registration after the server lost its credentials', async () => {
    const before = await account();
    await world.server.database.write(({ db }) => db.deleteFrom('relay_accounts').execute());
    rmSync(join(world.dir, 'waxwing-server.key'));
    const { code, printed } = await transfer();
    expect([code, printed]).toEqual([0, expect.stringContaining('Test: 2 sent.')]);
    const after = await account();
    expect([after?.server_id, after?.hostname]).toEqual([before?.server_id, hostname]);
    expect((await world.status()).checks.filter(({ ok }) => !ok)).toEqual([]);
  });

  it('push enable --transfer makes the previous key invalid', async () => {
    const former = await account();
    expect((await transfer()).code).toBe(0);
    const current = await account();
    const use = (sealed_key = '') =>
      world.server.database.write(({ db }) => db.updateTable('relay_accounts').set({ sealed_key }).execute());
    await use(former?.sealed_key);
    const { code, checks } = await world.status();
    expect([code, checks.find(({ ok }) => !ok)?.check]).toEqual([1, 'credentials']);
    await use(current?.sealed_key);
  });

  it('push status suggests --transfer, and no setting, after the operator has replaced the key immediately', async () => {
    const { server_id: serverId = '' } = (await account()) ?? {};
    await world.operateJson(['servers', 'rotate-key', serverId, '--now', '--yes']);
    const refused = (await world.status()).checks.find(({ ok }) => !ok);
    expect(refused).toMatchObject({ check: 'credentials' });
    expect(refused?.remedy).toContain(`push enable --relay ${world.relayUrl} --transfer`);
    expect(refused?.remedy).not.toContain('SERVER_RELAY_');
    expect((await transfer()).code).toBe(0);
    expect((await world.status()).checks.filter(({ ok }) => !ok)).toEqual([]);
  });

  it('the server shows a challenge only once, and only to the holder of its token', async () => {
    paths.length = 0;
    expect((await transfer()).code).toBe(0);
    const used = paths[0]?.replace(verifyPath, '') ?? '';
    expect(used).toMatch(/^[\w-]{43}\/$/);
    expect(await ask(used)).toMatchObject(notPrepared);
    expect(await ask('a-guess/')).toMatchObject(notPrepared);
  });

  it('the server shows only the newest challenge, and for ten seconds', async () => {
    const { database } = world.server;
    const verificationSecret = new Secret('SECRET');
    await showSecret(database, { accessToken: new Secret('token'), verificationSecret }, Date.now());
    expect(await ask('token/')).toMatchObject({ status: 200, body: { verification_secret: 'SECRET' } });
    expect(await ask('other/')).toMatchObject(notPrepared);
    world.ahead.server = 10_001;
    expect(await ask('token/')).toMatchObject(notPrepared);
    world.ahead.server = 0;
    await showSecret(database, { accessToken: new Secret('next'), verificationSecret }, Date.now());
    expect(await ask('token/')).toMatchObject(notPrepared);
  });

  it('push enable --transfer explains an unregistered host and a server that is not running', async () => {
    const { database } = world.server;
    const before = await allAccounts(database.db);
    const unknown = await transfer('other.example.org');
    expect([unknown.code, unknown.said]).toEqual([1, expect.stringContaining('join without --transfer')]);
    expect(await allAccounts(database.db)).toEqual(before);
    await world.stopServer();
    const down = await transfer();
    expect([down.code, down.said]).toEqual([1, expect.stringContaining('start it if it does not run')]);
    await world.startServer();
    expect(await account()).toEqual(before.find(({ state }) => state === 'enabled'));
  });
});

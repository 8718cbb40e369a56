import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createInvitation } from '#relay/servers/joining/invitations.js';
import { resumeServer } from '#relay/servers/manage-servers.js';
import { newPhone, openedBy, registerAt } from './stock-devices-of.js';
import { StockServer } from './stock-server.js';
import { newSecrets, StockHost, type StockSecrets, StockSetUp } from './stock-set-up.js';
import { StockWorld } from './stock-world.js';

const hour = 3_600_000;
const ada = { userId: 10, uuid: '5e7c2f6a-3f0f-4f4e-8f0a-0c9a6f1d2b3c' };
const message = { type: 'message', message_id: 45, content: 'hello' } as const;
const realm = { uuid: randomUUID(), url: 'https://chat.example.org', name: 'Chat' };
let world: StockWorld;
let host: StockHost;
let secrets: StockSecrets;
let server: StockServer;
let setUp: StockSetUp;

beforeAll(async () => {
  world = await StockWorld.create();
  host = await StockHost.start('chat.example.org');
  await startRelay();
  ({ server, setUp } = install(newSecrets()));
});
afterAll(async () => {
  await world.close();
  await host.close();
});

const startRelay = (environment: Record<string, string> = {}) =>
  world.startRelay(
    { RELAY_SERVER_REGISTRATION_PRIVATE_HOSTS: 'on', ...environment },
    { hostNetwork: host.network },
  );

/** Installs the server on a machine with these secrets, and makes the host's name resolve to this machine. */
function install(own: StockSecrets) {
  secrets = own;
  const { clock, relayUrl } = world;
  const installed = new StockServer({ relayUrl, credentials: secrets, realm, clock });
  const command = new StockSetUp({ relayUrl, hostname: host.hostname, secrets, server: installed, clock });
  host.setUp = command;
  return { server: installed, setUp: command };
}

async function invite(): Promise<void> {
  const { database } = world.relay.context;
  const invitation = { name: 'Chat', serverId: secrets.serverId, expiresAt: world.clock() + hour };
  await createInvitation(database, invitation, world.clock());
}

/** Expects that a phone can register and get a notification. */
async function expectPush(): Promise<void> {
  await world.takeDeliveries();
  const device = await registerAt(server, ada, await newPhone(world, 'fcm'));
  expect(server.devices.rows.get(device.deviceId)).toMatchObject({ errorCode: null, pendingTokenId: null });
  server.notify(ada, message);
  await server.work();
  expect(openedBy(device, await world.takeDeliveries())).toMatchObject([message]);
  expect([server.isPushOn, server.log, server.exhausted]).toEqual([true, [], []]);
}

it('a stock server joins the relay only with an invitation for its id, and can repeat the set-up', async () => {
  await expect(setUp.register()).rejects.toThrow('This relay admits new servers by invitation');
  await invite();
  expect(await setUp.register()).toBe(true);
  expect(await setUp.register()).toBe(false);
  await expectPush();
});

it('a stock server rotates its key: it reports with the old key, then uses the new one', async () => {
  const before = { ...secrets };
  expect(await setUp.register({ rotateKey: true })).toBe(false);
  expect(secrets.serverId).toBe(before.serverId);
  expect(secrets.serverKey).not.toBe(before.serverKey);
  world.time.ahead += hour;
  await expectPush();
  await server.reportHourly();
  expect(server.isPushOn).toBe(true);
});

it('a stock server keeps the old key if a rotation fails halfway, and can repeat the rotation', async () => {
  const before = secrets.serverKey;
  // The quota is enough to register the key, but not for the following report.
  await startRelay({ RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '1' });
  await expect(setUp.register({ rotateKey: true })).rejects.toMatchObject({ kind: 'server' });
  expect(secrets.serverKey).toBe(before);
  await startRelay();
  world.time.ahead += 60_000;
  expect(await setUp.register({ rotateKey: true })).toBe(false);
  expect(secrets.serverKey).not.toBe(before);
  world.time.ahead += hour;
  await expectPush();
});

it('a stock server gets 503 in JSON while the relay is overloaded, and can repeat the set-up', async () => {
  const device = await registerAt(server, ada, await newPhone(world, 'fcm'));
  await startRelay({ RELAY_MAXIMUM_REQUESTS_IN_FLIGHT: '1', RELAY_MAXIMUM_REQUESTS_PER_SERVER: '1' });
  await world.setFaults([{ vendor: 'fcm', token: device.phone.token, latency_ms: 1000 }]);
  const test = server.testNotification(ada);
  await expect
    .poll(async () => /^waxwing_http_requests_in_flight 1$/m.test(await world.relay.metrics.text()))
    .toBe(true);
  const overloaded = { kind: 'server', message: 'Received 503 from push notification bouncer' };
  await expect(setUp.register()).rejects.toMatchObject(overloaded);
  await expect(setUp.transfer()).rejects.toMatchObject(overloaded);
  await expect(setUp.deactivate()).rejects.toMatchObject(overloaded);
  expect((await test).status).toBe(200);
  await world.setFaults([]);
  expect(await setUp.register()).toBe(false);
  await startRelay();
});

it('a stock server that lost its secrets can be transferred to its host, with its realms', async () => {
  const former = { ...secrets };
  const onOldMachine = server;
  ({ server, setUp } = install(newSecrets()));
  await expect(setUp.register()).rejects.toThrow(`A server with hostname ${host.hostname} already exists`);
  await setUp.transfer();
  expect(secrets.serverId).toBe(former.serverId);
  expect(secrets.serverKey).not.toBe(former.serverKey);
  await expectPush();
  // Only one machine can act as the server, so the relay refuses the old machine's reports.
  await expect(onOldMachine.report.report()).rejects.toMatchObject({ kind: 'refused' });
});

it('a client that does not control the host gets no key', async () => {
  const honest = host.setUp;
  const before = { ...secrets };
  const { relayUrl, clock } = world;
  const stolen = newSecrets();
  const attacker = new StockSetUp({ relayUrl, hostname: host.hostname, secrets: stolen, server, clock });
  await expect(attacker.transfer()).rejects.toThrow('The host reported it has no verification secret.');
  expect(host.setUp).toBe(honest);
  expect(secrets).toEqual(before);
  await expectPush();
});

it('a deactivated server switches push off within the hour, and works again after the operator resumes it', async () => {
  await setUp.deactivate();
  world.time.ahead += 2 * hour;
  await server.reportHourly();
  expect(server.isPushOn).toBe(false);
  expect(server.log).toEqual([expect.stringContaining('has been deactivated')]);
  await expect(setUp.register()).rejects.toThrow('has been deactivated');
  await expect(setUp.transfer()).rejects.toThrow('has been deactivated');
  await resumeServer(world.relay.context.database, secrets.serverId);
  world.time.ahead += hour;
  await server.reportHourly();
  server.log.length = 0;
  await expectPush();
});

it('a week of hourly reports keeps push on, despite daily key rotations and a transfer', async () => {
  for (let hours = 1; hours <= 7 * 24; hours += 1) {
    world.time.ahead += hour;
    await server.reportHourly({ realmCounts: hours, installationCounts: hours, auditLogRows: hours });
    if (hours % 24 === 0) await setUp.register({ rotateKey: true });
    if (hours === 100) await setUp.transfer();
    expect([hours, server.isPushOn]).toEqual([hours, true]);
  }
  expect(server.log).toEqual([]);
  await expectPush();
});

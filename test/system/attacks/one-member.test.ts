import { randomUUID } from 'node:crypto';
import { registerPushDevicePath, testNotificationPath } from '@waxwing/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addUsers } from '../../support/add-users.js';
import type { Constellation, ConstellationUser } from '../../support/constellation.js';
import { relayDeviceId } from '../../support/ids.js';
import { eachBackend, testPostgresUrl } from '../../support/test-databases.js';
import { ask, askPatiently, basicAuthorization } from '../crash/ask.js';
import type { CrashPhone } from '../crash/crash-phone.js';
import { type AttackWorld, createAttackWorld, type Target } from './attack-world.js';
import { expectServed, experienceOf } from './expect-unharmed.js';
import type { Experience } from './honest-user.js';
import { newPhone, RelayMember, withRelayDatabase } from './relay-member.js';

const startMilliseconds = 120_000;
const patienceMilliseconds = 90_000;
/**
 * Number of concurrent requests of one user. With more, an overloaded server may refuse other active users' requests.
 */
const requestsAtOnce = 20;
let attackWorld: AttackWorld;
let world: Constellation;
let otherMember: RelayMember;
let unattacked: Readonly<Record<Target['name'], Experience>>;

eachBackend(({ name }) => {
  beforeAll(async () => {
    const postgresUrl = name === 'postgres' ? testPostgresUrl : undefined;
    attackWorld = await createAttackWorld({
      postgresUrl,
      requestsPerActor: 1000,
      server: { SERVER_REGISTRATIONS_PER_HOUR: '1000' },
    });
    world = attackWorld.constellation;
    otherMember = await RelayMember.add(world);
    unattacked = {
      relay: await experienceOf(attackWorld.relay),
      server: await experienceOf(attackWorld.server),
    };
  }, startMilliseconds);
  afterAll(() => attackWorld?.close());

  defineTests();
});

function defineTests(): void {
  describe('one user of one organization', () => {
    it(
      'does not make the relay unready or freeze another organization’s deletions with 25 dead tokens',
      async () => {
        const user = await newUser();
        const phones = await newPhones(25);
        const otherPhone = await newPhone(world);
        await answer([...phones, otherPhone], 'UNREGISTERED');
        await registerAll(user, phones);
        await expect.poll(() => activeDevicesOf(user)).toBe(25);
        await ask(world.serverUrl + testNotificationPath, authorizationOf(user), new URLSearchParams());
        await expect.poll(faultsFired).toBe(25);

        const deviceId = await otherMember.register(otherPhone);
        expect((await otherMember.notify(deviceId, otherPhone)).body).toMatchObject({
          delete_device_ids: [deviceId],
        });
        await expectEverybodyServed();
      },
      startMilliseconds,
    );

    it(
      'does not delay other users’ phones by registering hundreds of phones',
      async () => {
        const flooder = await newUser();
        const honest = await newUser();
        const phones = await newPhones(150);
        const honestPhone = await newPhone(world);
        const relay = attackWorld.relay.process.child;
        // Stops the relay, so that no registration is forwarded before all are accepted.
        relay.kill('SIGSTOP');
        try {
          await registerAll(flooder, phones);
          await registerAll(honest, [honestPhone]);
        } finally {
          relay.kill('SIGCONT');
        }
        await expect.poll(() => activeDevicesOf(honest), { timeout: patienceMilliseconds }).toBe(1);
        expect(await registeredBefore(honestPhone, phones)).toBeLessThan(phones.length - 30);
        await expectEverybodyServed();
      },
      startMilliseconds,
    );

    it(
      'does not delay other organizations’ notifications with a token that FCM answers with THIRD_PARTY_AUTH_ERROR',
      async () => {
        const member = await RelayMember.add(world);
        const [strange, usual] = [await newPhone(world), await newPhone(world)];
        await answer([strange], 'THIRD_PARTY_AUTH_ERROR');
        await member.notify(await member.register(strange), strange);
        const { body } = await otherMember.notify(await otherMember.register(usual), usual);
        expect(body).toMatchObject({ results: [{ status: 'sent' }] });
        await expectEverybodyServed();
      },
      startMilliseconds,
    );

    it(
      'does not make the relay unready or affect others if Apple rejects the key only for this user’s phones',
      async () => {
        const user = await newUser();
        const phones = await newPhones(3, 'apns');
        await answer(phones, 'BadEnvironmentKeyIdInToken');
        await registerAll(user, phones);
        await expect.poll(() => activeDevicesOf(user)).toBe(3);
        await ask(world.serverUrl + testNotificationPath, authorizationOf(user), new URLSearchParams());
        const metrics = `http://127.0.0.1:${world.relayEnv.RELAY_METRICS_PORT}/metrics`;
        await expect
          .poll(async () => (await fetch(metrics)).text())
          .toContain('waxwing_app_breaker_open{app="apns:*:production",kind="credential"} 1');
        await expectEverybodyServed();
      },
      startMilliseconds,
    );

    it(
      'does not affect other phones of a request that includes an unreadable token',
      async () => {
        const member = await RelayMember.add(world);
        const [spoilt, usual] = [await newPhone(world), await newPhone(world)];
        const ids = [await member.register(spoilt), await member.register(usual)] as const;
        await withRelayDatabase(world, ({ db }) =>
          db
            .updateTable('relay_devices')
            .set({ token: 'spoilt' })
            .where('id', '=', relayDeviceId(ids[0]))
            .execute(),
        );
        const requests = [member.pushRequest(ids[0], spoilt), member.pushRequest(ids[1], usual)];
        const asked = await member.notifyAll(requests);
        expect(asked.body).toMatchObject({ results: [{ status: 'rejected' }, { status: 'sent' }] });
        await expectTargetsServed();
      },
      startMilliseconds,
    );
  });
}

async function expectTargetsServed(): Promise<void> {
  await expectServed(attackWorld.relay, unattacked.relay);
  await expectServed(attackWorld.server, unattacked.server);
}

async function expectEverybodyServed(): Promise<void> {
  await expectTargetsServed();
  expect((await fetch(`${world.relayUrl}/health/ready`)).status).toBe(200);
}

function newPhones(count: number, tokenKind: 'fcm' | 'apns' = 'fcm'): Promise<CrashPhone[]> {
  return Promise.all(Array.from({ length: count }, () => newPhone(world, tokenKind)));
}

const authorizationOf = ({ email, api_key }: ConstellationUser): string => basicAuthorization(email, api_key);

/** Creates a new user for each attempt, so that a retried test does not find old state. */
async function newUser(): Promise<ConstellationUser> {
  const [user] = await addUsers(world, [randomUUID()]);
  return user as ConstellationUser;
}

async function registerAll(user: ConstellationUser, phones: readonly CrashPhone[]): Promise<void> {
  const url = world.serverUrl + registerPushDevicePath;
  for (let start = 0; start < phones.length; start += requestsAtOnce) {
    const asked = phones
      .slice(start, start + requestsAtOnce)
      .map(({ registration }) =>
        askPatiently(() => ask(url, authorizationOf(user), new URLSearchParams(registration))),
      );
    const refused = (await Promise.all(asked)).filter(({ status }) => status !== 200);
    expect(refused).toEqual([]);
  }
}

/** Number of the other phones that the relay registered before this phone, which must be registered. */
async function registeredBefore(phone: CrashPhone, others: readonly CrashPhone[]): Promise<number> {
  const devices = await withRelayDatabase(world, ({ db }) =>
    db.selectFrom('relay_devices').select('push_account_id').orderBy('id').execute(),
  );
  const accounts = devices.map(({ push_account_id: account }) => String(account));
  const before = new Set(accounts.slice(0, accounts.indexOf(phone.pushAccountId)));
  return others.filter(({ pushAccountId }) => before.has(pushAccountId)).length;
}

/** Number of a user's active devices. */
async function activeDevicesOf(user: ConstellationUser): Promise<number> {
  const { text } = await world.request(user, 'POST', 'register', { fetch_event_types: '["push_device"]' });
  const { push_devices = {} } = JSON.parse(text) as { push_devices?: Record<string, { status: string }> };
  return Object.values(push_devices).filter((device) => device.status === 'active').length;
}

async function answer(phones: readonly CrashPhone[], reason: string): Promise<void> {
  const rules = phones.map(({ token, tokenKind: vendor }) => ({ vendor, token, reason }));
  const url = `${world.vendors.urls.http}/faults`;
  expect((await fetch(url, { method: 'PUT', body: JSON.stringify({ rules }) })).status).toBe(200);
}

async function faultsFired(): Promise<number> {
  const text = await (await fetch(`${world.vendors.urls.http}/stats`)).text();
  const { faults_fired: fired } = JSON.parse(text) as { faults_fired: number[] };
  return fired.reduce((sum, times) => sum + times, 0);
}

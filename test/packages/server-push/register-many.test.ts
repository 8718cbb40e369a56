import type { DatabaseWithJobs } from '@waxwing/jobs';
import {
  createServerPush,
  readRelayLinkStatus,
  type ServerPush,
  type ServerPushTables,
  serverPushMigrations,
} from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { Metrics } from '@waxwing/service/metrics';
import { loadWasmSodium } from '@waxwing/sodium';
import { afterEach, expect, it } from 'vitest';
import { enqueueForwarding } from '#server-push/push-devices/enqueue-forwarding.js';
import { acceptRegistration } from '../../support/accept-registration.js';
import { idle } from '../../support/idle.js';
import { accountIdText, userId } from '../../support/ids.js';
import { createMemoryLog } from '../../support/memory-log.js';
import {
  type RelayRequest,
  RelayStandIn,
  refused,
  registered,
  registeredMany,
} from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';

const sodium = await loadWasmSodium();
const ada = userId(7);
const realm = {
  uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
  url: 'https://chat.example.com',
  name: 'Example',
};
const manyPath = '/api/v1/remotes/push/e2ee/register_many';
const hourMilliseconds = 3_600_000;

interface SentRegistration {
  readonly push_account_id: number;
  readonly encrypted_push_registration: string;
  readonly bouncer_public_key: string;
}

/**
 * Returns the registrations in a batch request. JSON.parse is safe here, because the account ids in these tests are
 * small.
 */
function sentIn({ body }: RelayRequest): SentRegistration[] {
  return (JSON.parse(body) as { registrations: SentRegistration[] }).registrations;
}

const active = { status: 'active', error_code: null };
const pending = { status: 'pending', error_code: null };

eachBackend((backend) => {
  let now = 1_773_000_000_000;
  let relay: RelayStandIn;
  let database: DatabaseWithJobs<ServerPushTables>;
  let push: ServerPush;
  afterEach(async () => {
    await database.jobs.stop(0);
    await push.close();
    await relay.close();
  });

  async function start(): Promise<void> {
    relay = await RelayStandIn.start({ takesMany: true });
    database = await backend.open<ServerPushTables>({ migrations: [serverPushMigrations], now: () => now });
    push = await createServerPush({
      database,
      authenticate: async () => ({ userId: ada, isBot: false, lockUser: async () => undefined }),
      publish: async () => undefined,
      relay: { kind: 'configured', url: relay.url, serverId: 'id', serverKey: new Secret('key') },
      realm,
      sodium,
      clock: () => now,
      random: () => 0,
      log: createMemoryLog().log,
      metrics: new Metrics(),
    });
    await database.jobs.start();
  }

  /**
   * Accepts registrations in one transaction, so that they wait for the relay together. Resolves when all have been
   * attempted.
   */
  async function accept(ids: readonly number[], sealed = 'sealed'): Promise<void> {
    await database.write(async (transaction) => {
      for (const id of ids) {
        const registration = {
          pushAccountId: accountIdText(id),
          tokenKind: 'fcm' as const,
          pushPublicKey: 'a push key',
          bouncerPublicKey: 'a bouncer key',
          encryptedPushRegistration: sealed,
          hash: `hash ${id} ${now}`,
        };
        const accepted = await acceptRegistration(transaction, ada, registration, now);
        if (accepted.kind !== 'accepted') throw new Error('not accepted');
        await enqueueForwarding(database, transaction, { ...accepted, waitingBefore: 0 }, now);
      }
    });
    await idle(database.jobs);
  }

  /** Accepts all registrations, in single or batch requests. */
  const takeAll = (request: RelayRequest) =>
    request.path === manyPath
      ? registeredMany(
          sentIn(request).map(({ push_account_id: id }) => ({ result: 'success', device_id: 1000 + id })),
        )
      : registered(1000 + Number(new URLSearchParams(request.body).get('push_account_id')));

  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  const paths = () => relay.requests.map(({ path }) => path.split('/').at(-1));
  const accountsAsked = () =>
    relay.requests.flatMap((request) =>
      request.path === manyPath
        ? sentIn(request).map(({ push_account_id: id }) => id)
        : [Number(new URLSearchParams(request.body).get('push_account_id'))],
    );

  it('pending registrations are each sent once, in few requests, to a relay that accepts batches', async () => {
    await start();
    relay.otherwise(takeAll);
    await accept(numbers(30));
    expect(accountsAsked().sort((a, b) => a - b)).toEqual(numbers(30));
    expect(relay.requests.length).toBeLessThan(15);
    expect(await push.pushDevicesOf(ada)).toEqual(Object.fromEntries(numbers(30).map((id) => [id, active])));
    const rows = await database.db.selectFrom('push_devices').selectAll().execute();
    expect(rows).toHaveLength(30);
    for (const row of rows) expect(row.relay_device_id).toBe(1000 + Number(row.push_account_id));
    const many = relay.requests.find(({ path }) => path === manyPath);
    expect(many?.headers).toMatchObject({
      authorization: 'Basic aWQ6a2V5',
      'content-type': 'application/json',
    });
    expect(JSON.parse(many?.body ?? '')).toMatchObject({
      realm_uuid: realm.uuid,
      registrations: expect.arrayContaining([
        {
          push_account_id: expect.any(Number),
          encrypted_push_registration: 'sealed',
          bouncer_public_key: 'a bouncer key',
          accounts_of_user: expect.any(Array),
        },
      ]),
    });
  });

  it('each phone in a batch gets its own result: active, failed or pending', async () => {
    await start();
    const outcomes: Record<number, object> = {
      2: { result: 'error', code: 'INVALID_BOUNCER_PUBLIC_KEY', msg: 'Invalid bouncer_public_key' },
      3: { result: 'error', code: 'SERVICE_UNAVAILABLE', msg: 'later' },
      4: { result: 'error', code: 'MISSING_REMOTE_REALM', msg: 'unknown' },
    };
    const judge = ({ code = '' }: { code?: string }) =>
      refused(code === 'SERVICE_UNAVAILABLE' ? 503 : 403, code);
    relay.otherwise((request) => {
      if (request.path === manyPath) {
        return registeredMany(
          sentIn(request).map(
            ({ push_account_id: id }) => outcomes[id] ?? { result: 'success', device_id: id },
          ),
        );
      }
      const id = Number(new URLSearchParams(request.body).get('push_account_id'));
      return outcomes[id] === undefined ? registered(id) : judge(outcomes[id]);
    });
    await accept(numbers(5));
    expect(paths()).toContain('register_many');
    expect(await push.pushDevicesOf(ada)).toEqual({
      1: active,
      3: pending,
      4: pending,
      5: active,
      2: { status: 'failed', error_code: 'INVALID_BOUNCER_PUBLIC_KEY' },
    });
  });

  it('a stock relay is probed for batches once an hour, and otherwise gets single registrations', async () => {
    await start();
    relay.otherwise((request) => (request.path === manyPath ? { status: 404 } : takeAll(request)));
    const timesAsked = () => paths().filter((path) => path === 'register_many').length;
    await accept(numbers(10));
    const askedBefore = timesAsked();
    expect(askedBefore).toBeGreaterThan(0);
    now += hourMilliseconds - 1;
    await accept(numbers(10).map((id) => 10 + id));
    expect(timesAsked()).toBe(askedBefore);
    expect(Object.values(await push.pushDevicesOf(ada))).toEqual(numbers(20).map(() => active));
    now += hourMilliseconds;
    relay.otherwise(takeAll);
    await accept(numbers(10).map((id) => 20 + id));
    expect(timesAsked()).toBeGreaterThan(askedBefore);
    expect(Object.values(await push.pushDevicesOf(ada))).toEqual(numbers(30).map(() => active));
    expect(await readRelayLinkStatus(database.db)).toMatchObject({ state: 'working' });
  });

  it('each registration is sent separately after the relay has refused the whole batch', async () => {
    await start();
    relay.otherwise((request) => {
      if (request.path === manyPath) return refused(400, 'BAD_REQUEST', 'Invalid registrations.1');
      return new URLSearchParams(request.body).get('push_account_id') === '2'
        ? refused(400, 'REQUEST_EXPIRED')
        : takeAll(request);
    });
    await accept([1, 2, 3]);
    const failed = { status: 'failed', error_code: 'REQUEST_EXPIRED' };
    expect(await push.pushDevicesOf(ada)).toEqual({ 1: active, 2: failed, 3: active });
  });

  it.each([
    [[12], 20],
    [[5, 25], 30],
  ])('only the registrations that make the relay fail are retried: %j of %i', async (broken, count) => {
    await start();
    let isBroken = true;
    const idsIn = (request: RelayRequest) =>
      request.path === manyPath
        ? sentIn(request).map(({ push_account_id: id }) => id)
        : [Number(new URLSearchParams(request.body).get('push_account_id'))];
    relay.otherwise((request) =>
      isBroken && idsIn(request).some((id) => broken.includes(id))
        ? refused(500, 'INTERNAL_SERVER_ERROR')
        : takeAll(request),
    );
    await accept(numbers(count));
    const devices = Object.fromEntries(numbers(count).map((id) => [id, active]));
    const waiting = Object.fromEntries(broken.map((id) => [id, pending]));
    expect(await push.pushDevicesOf(ada)).toEqual({ ...devices, ...waiting });
    isBroken = false;
    now += hourMilliseconds;
    const asked = relay.requests.length;
    await idle(database.jobs);
    expect(await push.pushDevicesOf(ada)).toEqual(devices);
    expect(
      relay.requests
        .slice(asked)
        .flatMap(idsIn)
        .sort((a, b) => a - b),
    ).toEqual(broken);
  });

  it('a batch is split only a few times if every request fails, and later retried as a whole', async () => {
    await start();
    relay.otherwise({ status: 500 });
    await accept(numbers(20));
    expect(relay.requests.length).toBeLessThan(20);
    relay.otherwise(takeAll);
    now += hourMilliseconds;
    await idle(database.jobs);
    expect(Object.values(await push.pushDevicesOf(ada))).toEqual(numbers(20).map(() => active));
  });

  it.each([502, 503, 504])(
    'a batch is not split after a %i, as from a proxy for an unreachable relay',
    async (status) => {
      await start();
      relay.otherwise({ status });
      await accept(numbers(20));
      const all = accountsAsked().sort((a, b) => a - b);
      expect(all).toEqual(numbers(20));
    },
  );

  it.each([
    ['is busy', { status: 503, headers: { 'retry-after': '60' } }],
    ['returns fewer results than registrations', registeredMany([])],
  ])('the whole batch is retried if the relay %s', async (_what, reaction) => {
    await start();
    relay.otherwise(reaction);
    await accept(numbers(10));
    const waiting = Object.fromEntries(numbers(10).map((id) => [id, pending]));
    expect(await push.pushDevicesOf(ada)).toEqual(waiting);
    expect(await readRelayLinkStatus(database.db)).toMatchObject({ state: 'failing' });
    relay.otherwise(takeAll);
    now += hourMilliseconds;
    await idle(database.jobs);
    expect(Object.values(await push.pushDevicesOf(ada))).toEqual(numbers(10).map(() => active));
  });

  it('large registrations are sent in several requests within the relay’s limit', async () => {
    await start();
    relay.otherwise(takeAll);
    await accept(numbers(30), 'x'.repeat(72_000));
    expect(accountsAsked().sort((a, b) => a - b)).toEqual(numbers(30));
    for (const { body } of relay.requests) expect(body.length).toBeLessThanOrEqual(1024 * 1024);
    expect(Object.values(await push.pushDevicesOf(ada))).toEqual(numbers(30).map(() => active));
  });
});

import { EnvironmentReader, Secret } from '@waxwing/service/config';
import { createHttpApp } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import type { Sodium } from '@waxwing/sodium';
import { loadFastestSodium } from '@waxwing/sodium/native';
import type { RelayContext } from '#relay/context.js';
import { createDeliveries } from '#relay/deliveries/create-deliveries.js';
import { readDeliveriesEnvironment } from '#relay/deliveries/deliveries-configuration.js';
import { productionTimings } from '#relay/deliveries/delivery-timings.js';
import type { PublishedKeyList } from '#relay/keyring/key-ring.js';
import { deleteOldKeyUses } from '#relay/keyring/key-uses.js';
import { newKeyRing } from '#relay/keyring/new-key-ring.js';
import { publishKeyList } from '#relay/keyring/publish-key-list.js';
import { defaultRotationPolicy } from '#relay/keyring/rotation-policy.js';
import { openRelayDatabase } from '#relay/open-database.js';
import { bindRelayOperations } from '#relay/operations.js';
import { DurableRegistrations } from '#relay/registrations/durable-registrations.js';
import { RegistrationBatches } from '#relay/registrations/registration-batches.js';
import { UnreadableTokens } from '#relay/registrations/unreadable-tokens.js';
import { scheduleRelayJobs } from '#relay/scheduled-jobs.js';
import { addServer } from '#relay/servers/manage-servers.js';
import { openSharedQuotas } from '#relay/servers/quota-exchange.js';
import { ServerDirectory } from '#relay/servers/server-directory.js';
import { createMapRegistrationKeys, type MapRegistrationKeys } from '../../support/map-registration-keys.js';
import { createMemoryLog } from '../../support/memory-log.js';
import { createNodeTokenVault } from '../../support/node-token-vault.js';
import { registrationVectors, relayProtocolVectors } from '../../support/protocol-vectors.js';

export const realmUuid = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';
export const otherRealmUuid = 'e502dde1-74fc-44b3-9e3a-114c41ed3ea4';
const registerUrl = '/api/v1/remotes/push/e2ee/register';

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, unknown>;
}

export type RelayUnderTest = Awaited<ReturnType<typeof startRelayUnderTest>>;

/** The relay's operations on a database of their own, with one server of two realms and another of one. */
export async function startRelayUnderTest(databaseUrl: string, environment: Record<string, string> = {}) {
  const vectors = registrationVectors();
  const time = { now: vectors.now * 1000 };
  const clock = () => time.now;
  const { log, text } = createMemoryLog();
  const database = await openRelayDatabase({
    url: new Secret(databaseUrl),
    role: 'serving',
    clock,
    onJobError: (error) => log.error({ err: error }),
  });
  const keyRing = vectorKeys();
  const { sodium } = await loadFastestSodium();
  const metrics = new Metrics();
  const tokenVault = createNodeTokenVault();
  const foundation = { clock, random: Math.random, log, metrics, database, tokenVault };
  const unreadableTokens = new UnreadableTokens(foundation);
  const configuration = readDeliveriesEnvironment(new EnvironmentReader(environment, 'RELAY_'));
  const deliveries = await createDeliveries({ ...foundation, unreadableTokens, configuration });
  const { quotas, exchange } = await openSharedQuotas({
    ...foundation,
    notificationsPerMinute: configuration.notificationsPerMinute,
    intervalMilliseconds: productionTimings.quotaExchangeMilliseconds,
  });
  // One object, so that what a test puts in its place counts everywhere.
  const ring = { ...keyRing, publishedKeyList: () => signedKeyList(sodium, time.now) };
  const store = new DurableRegistrations({ ...foundation, keyRing: ring });
  const context: RelayContext = {
    ...foundation,
    sodium,
    servers: new ServerDirectory(database.db, clock),
    keyRing: ring,
    deliveries,
    quotas,
    registrations: new RegistrationBatches({ ...foundation, sodium, keyRing: ring, store }),
  };
  const app = await createHttpApp({ log, metrics, operations: bindRelayOperations(context), readiness: {} });
  const server = await addServer(database, { name: 'ours', realmUuids: [realmUuid] }, time.now);
  const otherServer = await addServer(database, { name: 'other', realmUuids: [otherRealmUuid] }, time.now);
  return {
    app,
    context,
    database,
    keyRing,
    time,
    logged: text,
    server,
    otherServer,
    authorization: basic(server.serverId, server.serverKey.reveal()),
    otherAuthorization: basic(otherServer.serverId, otherServer.serverKey.reveal()),

    /** Sends a form to the register operation, as our server unless `headers` say otherwise; `undefined` omits one. */
    async register(
      form: string | Record<string, string>,
      headers: Record<string, string | undefined> = {},
    ): Promise<Answer> {
      const all = {
        authorization: basic(server.serverId, server.serverKey.reveal()),
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      };
      const sent = Object.entries(all).filter(([, value]) => value !== undefined);
      const answer = await app.inject({
        method: 'POST',
        url: registerUrl,
        headers: Object.fromEntries(sent),
        payload: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
      });
      return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
    },

    /** Does what the relay does by the clock. */
    async startJobs(): Promise<void> {
      scheduleRelayJobs({
        ...{ ...foundation, unreadableTokens, receipts: context.deliveries.receipts },
        keyRing: {
          forgetOldUses: ({ db }) => deleteOldKeyUses(db, time.now - 90 * 86_400_000),
          tokenVault: { ...tokenVault, keyToMoveTo: () => undefined },
          concludeTokenMove: async () => undefined,
        },
      });
      await database.jobs.start();
    },

    devices: () => database.db.selectFrom('relay_devices').selectAll().orderBy('id').execute(),

    /** Every row of the relay's tables, to be compared before and after. */
    async rows() {
      const tables = ['servers', 'realms', 'relay_devices'] as const;
      return Promise.all(tables.map((table) => database.db.selectFrom(table).selectAll().execute()));
    },

    async close(): Promise<void> {
      await app.close();
      await context.deliveries.close(0);
      await exchange.stop(0);
      await database.close();
    },
  };
}

export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function signedKeyList(sodium: Sodium, now: number): PublishedKeyList {
  const { published } = publishKeyList(newKeyRing(sodium, now), {
    sodium,
    policy: defaultRotationPolicy,
    now,
  });
  if (published === undefined) throw new Error('no key list was signed');
  return published;
}

/** A ring with the keys of both vector files. */
function vectorKeys(): MapRegistrationKeys {
  const keys = createMapRegistrationKeys();
  const protocol = relayProtocolVectors();
  keys.add(protocol.bouncer_public_key, protocol.bouncer_private_key);
  for (const key of registrationVectors().keys) {
    if (key.in_key_ring) keys.add(key.public_key, key.private_key);
  }
  return keys;
}

/** The parameters of a good registration, for tests that spoil one of them. */
export function goodForm(changes: Record<string, string> = {}): Record<string, string> {
  const good = registrationVectors().vectors.find(({ name }) => name === 'valid fcm registration');
  if (good === undefined) throw new Error('the vectors hold no valid fcm registration');
  return {
    realm_uuid: realmUuid,
    push_account_id: '2408',
    encrypted_push_registration: good.encrypted_push_registration,
    bouncer_public_key: good.bouncer_public_key,
    ...changes,
  };
}

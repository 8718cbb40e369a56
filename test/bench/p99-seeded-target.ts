import { randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { TokenId } from '@waxwing/protocol';
import { generateCredential, hashCredential } from '@waxwing/service/config';
import { createLogger } from '@waxwing/service/logging';
import { isPostgres } from '@waxwing/storage';
import { sql } from 'kysely';
import { productionTimings } from '#relay/deliveries/delivery-timings.js';
import { primaryKey } from '#relay/keyring/ring/key-ring.js';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { addresseeOfToken, computeTokenId } from '#relay/registrations/store/addressee.js';
import { bindingOfToken } from '#relay/registrations/store/token-vault.js';
import type { RelayDatabase } from '#relay/tables.js';
import {
  type DeliveriesUnderTest,
  startDeliveriesUnderTest,
  topic,
} from '../apps/relay/deliveries/deliveries-under-test.js';
import { ringOnDisk, sodium } from '../apps/relay/keyring/ring-material.js';
import { accountIdText } from '../support/ids.js';

/**
 * Argument of the process that `p99-seeded` measures, as JSON. The process is a relay with `servers` servers, each with
 * one realm, and with `devices` devices that are assigned to the servers round-robin. Every second device uses the
 * newer generation.
 */
export interface SeededParameters {
  readonly vendors: DeliveriesUnderTest['vendors'];
  /** Default: a new SQLite file. */
  readonly databaseUrl?: string;
  readonly servers: number;
  readonly devices: number;
}

export interface SeededServer {
  readonly authorization: string;
  readonly realmUuid: string;
}

/** A device that can receive notifications, with the index of its server. */
export interface SeededDevice {
  readonly server: number;
  readonly id: number | TokenId;
}

export interface SeededTarget {
  readonly port: number;
  readonly bouncerPublicKey: string;
  readonly servers: readonly SeededServer[];
  /** At most a few thousand devices. */
  readonly devices: readonly SeededDevice[];
}

const rowsPerInsert = 1000;
const mostNamedDevices = 4000;

const { servers, devices, ...options } = JSON.parse(process.argv[2] ?? '{}') as SeededParameters;
const keys = newKeyRing(sodium, Date.now());
const relay = await startDeliveriesUnderTest({
  ...options,
  ring: await ringOnDisk(keys, Date.now),
  timings: productionTimings,
  // Formats log lines of requests, as in production, and discards them.
  log: createLogger('bench', 'info', { write: () => undefined }),
  environment: { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '100000000' },
});
const seeded = await insertServers(relay.database);
const named = await insertDevices(relay.database);
// Updates the planner's statistics, as autovacuum would do later.
if (isPostgres(relay.database.db)) await sql`analyze`.execute(relay.database.db);
await relay.app.listen({ host: '127.0.0.1', port: 0 });
const { port } = relay.app.server.address() as AddressInfo;
const bouncerPublicKey = primaryKey(keys).publicKey;
process.send?.({ port, bouncerPublicKey, servers: seeded, devices: named } satisfies SeededTarget);
process.once('SIGTERM', async () => {
  await relay.close();
  process.exit(0);
});

async function insertServers(database: RelayDatabase): Promise<SeededServer[]> {
  const created_at = Date.now();
  const made = Array.from({ length: servers }, () => ({
    id: randomUUID(),
    key: generateCredential(),
    realmUuid: randomUUID(),
  }));
  const rows = made.map(({ id, key }) => ({
    id,
    name: id,
    key_hash: hashCredential(key.reveal()),
    created_at,
  }));
  const realms = made.map(({ id, realmUuid }) => ({ uuid: realmUuid, server_id: id, created_at }));
  await database.write(async ({ db }) => {
    await db.insertInto('servers').values(rows).execute();
    await db.insertInto('realms').values(realms).execute();
  });
  return made.map(({ id, key, realmUuid }) => ({
    realmUuid,
    authorization: `Basic ${btoa(`${id}:${key.reveal()}`)}`,
  }));
}

async function insertDevices(database: RelayDatabase): Promise<SeededDevice[]> {
  const uuids = seeded.map(({ realmUuid }) => realmUuid);
  const realms = await database.db.selectFrom('realms').select(['id', 'uuid']).execute();
  const places = realms
    .map(({ id, uuid }) => ({ id, server: uuids.indexOf(uuid) }))
    .filter(({ server }) => server >= 0);
  const found: SeededDevice[] = [];
  for (let from = 0; from < devices; from += rowsPerInsert) {
    const made = Array.from({ length: Math.min(rowsPerInsert, devices - from) }, (_, index) =>
      newDevice(places[(from + index) % places.length] as (typeof places)[number], index % 2 === 1),
    );
    const inserted = await database.write(({ db }) =>
      db
        .insertInto('relay_devices')
        .values(made.map(({ row }) => row))
        .returning('id')
        .execute(),
    );
    const isNamed = Math.random() < mostNamedDevices / devices || devices <= mostNamedDevices;
    if (!isNamed) continue;
    found.push(
      ...made.map(({ server, tokenId }, index) => ({ server, id: tokenId ?? Number(inserted[index]?.id) })),
    );
  }
  return found;
}

function newDevice({ id: realm_id, server }: { id: never | number; server: number }, isNewer: boolean) {
  const token = randomBytes(32).toString('hex');
  const [token_lookup] = relay.tokenVault.lookups(token);
  const tokenId = isNewer ? computeTokenId(token) : undefined;
  const account = accountIdText(randomBytes(8).readBigInt64BE().toString());
  const push_account_id = tokenId === undefined ? account : addresseeOfToken(tokenId);
  const place = { realm_id: realm_id as never, push_account_id, token_lookup };
  const row = {
    ...place,
    token_kind: 'apns',
    token: relay.tokenVault.seal(token, bindingOfToken(place)),
    ios_app_id: topic,
    apns_environment: 'production',
    registered_at: Date.now(),
  };
  return { server, tokenId, row };
}

import { rmSync } from 'node:fs';
import { createRelay, type RelayOverrides, readRelayEnvironment } from '@waxwing/relay';
import { Secret } from '@waxwing/service/config';
import type { BouncerPublicKey } from '#relay/keyring/ring/key-ring.js';
import { type ImportedKey, importKeys } from '#relay/keyring/ring/key-ring-transitions.js';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { addServer } from '#relay/servers/manage-servers.js';
import { createMemoryLog } from '../../support/memory-log.js';
import { withoutOverload } from '../../support/no-overload.js';
import { registrationVectors, relayProtocolVectors } from '../../support/protocol-vectors.js';
import { registrationThread } from '../../support/registration-thread.js';
import { policy, ringOnDisk, sodium } from './keyring/ring-material.js';

export const realmUuid = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';
export const otherRealmUuid = 'e502dde1-74fc-44b3-9e3a-114c41ed3ea4';
const registerUrl = '/api/v1/remotes/push/e2ee/register';

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, unknown>;
}

export type RelayUnderTest = Awaited<ReturnType<typeof startRelayUnderTest>>;

/** Starts a relay with the keys in both vector files, and with two servers that have one realm each. */
export async function startRelayUnderTest(
  databaseUrl: string,
  environment: Record<string, string> = {},
  given: Pick<RelayOverrides, 'hostNetwork' | 'pageFolder'> = {},
) {
  const time = { now: registrationVectors().now * 1000 };
  const clock = () => time.now;
  const { log, text } = createMemoryLog();
  const ring = await ringOnDisk(
    importKeys(newKeyRing(sodium, time.now), vectorKeys(), { now: time.now, policy }),
    clock,
  );
  const configuration = readRelayEnvironment({
    RELAY_DATABASE: databaseUrl,
    ...ring.environment,
    ...environment,
  });
  const http = withoutOverload(configuration.http);
  const overrides = { log, clock, monotonic: clock, registrationThread, ...given };
  const relay = await createRelay({ ...configuration, http }, overrides);
  const { app, context } = relay;
  const { database } = context;
  const server = await addServer(database, { name: 'ours', realmUuids: [realmUuid] }, time.now);
  const otherServer = await addServer(database, { name: 'other', realmUuids: [otherRealmUuid] }, time.now);
  return {
    relay,
    app,
    context,
    database,
    ring,
    time,
    logged: text,
    server,
    otherServer,
    authorization: basic(server.serverId, server.serverKey.reveal()),
    otherAuthorization: basic(otherServer.serverId, otherServer.serverKey.reveal()),

    /** Sends a form to the register operation, by default as our server. A field that is `undefined` is omitted. */
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

    /** Returns the number of registrations that each bouncer key has opened. */
    async keyUses(): Promise<Record<string, number>> {
      const uses = await database.db
        .selectFrom('bouncer_key_uses')
        .select(['public_key', 'registrations'])
        .execute();
      const totals: Record<string, number> = {};
      for (const { public_key, registrations } of uses)
        totals[public_key] = (totals[public_key] ?? 0) + registrations;
      return totals;
    },

    reloadCredentials: () => relay.reloadCredentials(),

    devices: () => database.db.selectFrom('relay_devices').selectAll().orderBy('id').execute(),

    /** Returns every row of the tables for servers, realms and devices, for comparison. */
    async rows() {
      const tables = ['servers', 'realms', 'relay_devices'] as const;
      return Promise.all(tables.map((table) => database.db.selectFrom(table).selectAll().execute()));
    },

    async close(): Promise<void> {
      await relay.close();
      rmSync(ring.folder, { recursive: true });
    },
  };
}

export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** Returns the keys in both vector files. */
function vectorKeys(): ImportedKey[] {
  const { bouncer_public_key: public_key, bouncer_private_key: private_key } = relayProtocolVectors();
  const inRing = registrationVectors().keys.filter(({ in_key_ring }) => in_key_ring);
  return [{ public_key, private_key }, ...inRing].map(importedKey);
}

/** Converts a vector file's key to the format that the key ring imports. */
export function importedKey(key: { readonly public_key: string; readonly private_key: string }): ImportedKey {
  return {
    publicKey: key.public_key as BouncerPublicKey,
    privateKey: new Secret(new Uint8Array(Buffer.from(key.private_key, 'base64'))),
    createdAt: undefined,
    acceptedUntil: undefined,
  };
}

/** Returns the parameters of a valid registration, with `changes`. */
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

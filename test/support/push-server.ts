import { createHash } from 'node:crypto';
import type { DatabaseWithJobs } from '@waxwing/jobs';
import {
  type ClientDeviceId,
  encodeBase64,
  encodePushKey,
  type JsonObject,
  ProtocolError,
  type TokenId,
  tokenIdFromDigest,
  type UserId,
} from '@waxwing/protocol';
import {
  createServerPush,
  type NotificationContent,
  type ServerPush,
  type ServerPushTables,
  serverPushMigrations,
} from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { Metrics } from '@waxwing/service/metrics';
import { loadWasmSodium } from '@waxwing/sodium';
import { idle } from './idle.js';
import { createMemoryLog } from './memory-log.js';
import type { TestBackend } from './test-databases.js';
import { TokenRelay } from './token-relay.js';

export const pushSodium = await loadWasmSodium();
const weekMilliseconds = 7 * 86_400_000;
const bouncerPublicKey = encodeBase64(pushSodium.generateKeyPair().publicKey);

/** The id of a token, computed as on a phone. */
export function tokenIdOf(token: string): TokenId {
  return tokenIdFromDigest(createHash('sha256').update(token).digest());
}

/** A push key in which every byte equals the key's id, so that tests can recognize it. */
export function keyOf(id: number): Uint8Array {
  return new Uint8Array(32).fill(id);
}

export const keyGroup = (id: number) => ({ push_key_id: String(id), push_key: encodePushKey(keyOf(id)) });
export const tokenGroup = (token: string, kind: 'fcm' | 'apns' = 'fcm') => ({
  token_kind: kind,
  token_id: tokenIdOf(token),
  bouncer_public_key: bouncerPublicKey,
  encrypted_push_registration: encodeBase64(
    Buffer.from(`a registration of ${token}, sealed as it has to be`),
  ),
});

interface PublishedEvent {
  readonly event: JsonObject;
  readonly audience: readonly number[];
}

/**
 * The push part of a server, with its database and a relay that stores tokens. Operations are called directly, without
 * HTTP.
 */
export class PushServer {
  now = 1_773_000_000_000;
  readonly relay: TokenRelay;
  readonly events: PublishedEvent[] = [];
  readonly log = createMemoryLog();
  metrics = new Metrics();
  /** Whether a queued message should still be shown. */
  isWanted = true;
  readonly #backend: TestBackend;
  readonly #url: string;
  #database: DatabaseWithJobs<ServerPushTables> | undefined;
  #push: ServerPush | undefined;

  private constructor(backend: TestBackend, url: string, relay: TokenRelay) {
    this.#backend = backend;
    this.#url = url;
    this.relay = relay;
  }

  /** Starts a server on an empty database, or on the database at `url`. */
  static async start(backend: TestBackend, url?: string): Promise<PushServer> {
    const server = new PushServer(backend, url ?? (await backend.freshUrl()), await TokenRelay.start());
    await server.boot();
    return server;
  }

  get database(): DatabaseWithJobs<ServerPushTables> {
    if (this.#database === undefined) throw new Error('the server is not running');
    return this.#database;
  }

  get push(): ServerPush {
    if (this.#push === undefined) throw new Error('the server is not running');
    return this.#push;
  }

  /** Starts the server on its database. */
  async boot(): Promise<void> {
    this.metrics = new Metrics();
    this.#database = await this.#backend.open<ServerPushTables>({
      migrations: [serverPushMigrations],
      now: () => this.now,
      url: this.#url,
    });
    this.#push = await createServerPush({
      database: this.#database,
      authenticate: async () => ({ userId: 0 as UserId, isBot: false, lockUser: async () => undefined }),
      publish: async (_transaction, events) => void this.events.push(...events),
      isWanted: async () => this.isWanted,
      relay: {
        kind: 'configured',
        url: this.relay.stand.url,
        serverId: 'id',
        serverKey: new Secret('key'),
      },
      realm: {
        uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
        url: 'https://chat.example.com',
        name: 'Example',
      },
      sodium: pushSodium,
      clock: () => this.now,
      random: () => 0,
      log: this.log.log,
      metrics: this.metrics,
      registrationsPerHour: 100_000,
    });
    await this.#database.jobs.start();
  }

  async stop(): Promise<void> {
    await this.database.jobs.stop(0);
    await this.push.close();
    await this.database.close();
    this.#database = undefined;
  }

  async close(): Promise<void> {
    await this.database.jobs.stop(0);
    await this.push.close();
    // Closes the database immediately rather than after the test, because one test can start many servers.
    await this.database.close();
    await this.relay.stand.close();
  }

  /** Waits until all due jobs are done. */
  settle(): Promise<void> {
    return idle(this.database.jobs);
  }

  /** Advances the clock in steps, as if the server kept running, so that no scheduled job misses a period. */
  async pass(milliseconds: number): Promise<void> {
    for (let left = milliseconds; left > 0; left -= weekMilliseconds) {
      await this.jump(Math.min(left, weekMilliseconds));
    }
  }

  /** Advances the clock in one step, as if the server had been stopped or its clock had been set. */
  async jump(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    await this.settle();
  }

  /** Calls an operation as a user. Returns the response, or the error message if the operation refuses. */
  async ask(userId: UserId, path: string, fields: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const found = this.push.operations.find(
      ({ declared }) => declared.method === 'POST' && declared.path === `/api/v1/${path}`,
    );
    if (found === undefined) throw new Error(`there is no operation ${path}`);
    const parameters = found.declared.parameters.parse(fields);
    const actor = { userId, isBot: false, lockUser: async () => undefined };
    try {
      return await found.handle({ actor, parameters, signal: new AbortController().signal } as never);
    } catch (error) {
      if (error instanceof ProtocolError) return error.message;
      throw error;
    }
  }

  async createDevice(userId: UserId): Promise<ClientDeviceId> {
    const { device_id: id } = (await this.ask(userId, 'register_client_device')) as {
      device_id: ClientDeviceId;
    };
    return id;
  }

  register(userId: UserId, id: number, fields: Readonly<Record<string, string>>): Promise<unknown> {
    return this.ask(userId, 'mobile_push/register', { device_id: String(id), ...fields });
  }

  /** Creates a device with a key and a token that the relay has confirmed. */
  async activeDevice(userId: UserId, token: string, keyId = 1): Promise<ClientDeviceId> {
    const id = await this.createDevice(userId);
    await this.register(userId, id, { ...keyGroup(keyId), ...tokenGroup(token) });
    await this.settle();
    return id;
  }

  /** Registers an account of the older generation, and waits for the relay. */
  async activeAccount(userId: UserId, pushAccountId: string): Promise<void> {
    await this.registerAccount(userId, pushAccountId);
    await this.settle();
  }

  async registerAccount(userId: UserId, pushAccountId: string): Promise<void> {
    await this.ask(userId, 'mobile_push/register', {
      token_kind: 'fcm',
      push_account_id: pushAccountId,
      bouncer_public_key: bouncerPublicKey,
      push_public_key: encodeBase64(pushSodium.generateKeyPair().publicKey),
      encrypted_push_registration: encodeBase64(Buffer.from(String(this.now).padEnd(100))),
    });
  }

  /** Sends a notification that expires after a minute. */
  async notify(userId: UserId, content: NotificationContent = { type: 'test', time: 1 }): Promise<void> {
    await this.push.notify([userId], { content, giveUpAt: this.now + 60_000 });
    await this.settle();
  }

  /** A user's events, except those of the older generation. */
  eventsOf(userId: UserId): JsonObject[] {
    return this.events
      .filter(({ audience, event }) => audience.includes(userId) && event.type === 'device')
      .map(({ event }) => event);
  }
}

import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  encodeBase64,
  keyListPath,
  relayNotifyPath,
  relayReceiptsPath,
  relayRegisterPath,
} from '@waxwing/protocol';
import { readRelayEnvironment, startRelay } from '@waxwing/relay';
import { generateCredential, hashCredential } from '@waxwing/service/config';
import type { ListeningService } from '@waxwing/service/http';
import type { HttpLimits } from '@waxwing/service/http-settings';
import { startVendors, type Vendors } from '@waxwing/vendors';
import { sql } from 'kysely';
import { addServer } from '#relay/servers/manage-servers.js';
import { appsFor } from '../../apps/relay/deliveries/deliveries-under-test.js';
import {
  type KeyTerminal,
  keysOf,
  keyTerminal,
  withDatabase,
} from '../../apps/relay/keyring/key-terminal.js';
import { sodium } from '../../apps/relay/keyring/ring-material.js';
import { basic } from '../../apps/relay/relay-under-test.js';
import { HeldOpen } from '../../support/held-open.js';
import { createMemoryLog } from '../../support/memory-log.js';
import { registrationThread } from '../../support/registration-thread.js';
import { ask, form, type Question, question } from './ask.js';
import type { Place } from './limit.js';

/** A server of an organization, as the relay sees it. */
export interface Member {
  readonly realmUuid: string;
  readonly authorization: string;
}

type Fields = Readonly<Record<string, string>>;

/** Settings with limits low enough to be reached quickly, but high enough for a modest client. */
const environment = {
  RELAY_PORT: '0',
  RELAY_METRICS_PORT: '0',
  RELAY_LOG_LEVEL: 'error',
  RELAY_MAXIMUM_REQUESTS_PER_SERVER: '5',
  RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '300',
  RELAY_MAXIMUM_NOTIFICATIONS_IN_FLIGHT: '8',
  RELAY_MAXIMUM_NOTIFICATIONS_QUEUED: '3',
};

/** A relay as in production, with low limits, a fixed clock, and two servers: a greedy one and a modest one. */
export class RelayUnderLimits implements Place {
  readonly greedy: Member;
  /** Another realm of the greedy server. */
  readonly otherRealmUuid: string;
  readonly #modest: Member;
  readonly #terminal: KeyTerminal;
  readonly #vendors: Vendors;
  readonly #bouncerPublicKey: string;
  readonly #held = new HeldOpen();
  #modestForm: Fields;
  #modestFormAt: number;
  #relay: ListeningService | undefined;

  private constructor(parts: {
    members: readonly [Member, Member];
    otherRealmUuid: string;
    terminal: KeyTerminal;
    vendors: Vendors;
    bouncerPublicKey: string;
  }) {
    [this.greedy, this.#modest] = parts.members;
    this.otherRealmUuid = parts.otherRealmUuid;
    this.#terminal = parts.terminal;
    this.#vendors = parts.vendors;
    this.#bouncerPublicKey = parts.bouncerPublicKey;
    this.#modestForm = this.registration({ token: 'modest' }, this.#modest);
    this.#modestFormAt = this.now;
  }

  static async start(databaseUrl?: string): Promise<RelayUnderLimits> {
    const terminal = keyTerminal(
      databaseUrl === undefined ? environment : { ...environment, RELAY_DATABASE: databaseUrl },
    );
    const vendors = await startVendors({
      dataDir: join(terminal.folder, 'vendors'),
      clock: () => terminal.now,
    });
    const appsFile = join(terminal.folder, 'apps.json');
    writeFileSync(appsFile, JSON.stringify(appsFor(vendors)), { mode: 0o600 });
    Object.assign(terminal.environment, {
      RELAY_APPS_FILE: appsFile,
      RELAY_KEY_ADMIN_SOCKET: join(terminal.folder, 'relay.sock'),
      RELAY_FCM_BASE_URL: vendors.urls.fcm,
      RELAY_APNS_PRODUCTION_URL: vendors.urls.apnsProduction,
      RELAY_APNS_SANDBOX_URL: vendors.urls.apnsSandbox,
      RELAY_APNS_CA_FILE: vendors.credentials.caFile,
    });
    await terminal.json('init');
    const otherRealmUuid = randomUUID();
    const members = await withDatabase(terminal, async (database) => {
      const add = async (name: string, more: readonly string[]): Promise<Member> => {
        const realmUuid = randomUUID();
        const added = await addServer(database, { name, realmUuids: [realmUuid, ...more] }, terminal.now);
        return { realmUuid, authorization: basic(added.serverId, added.serverKey.reveal()) };
      };
      return [await add('greedy', [otherRealmUuid]), await add('modest', [])] as const;
    });
    const [primary] = await keysOf(terminal);
    const bouncerPublicKey = primary?.public_key ?? '';
    const relay = new RelayUnderLimits({ members, otherRealmUuid, terminal, vendors, bouncerPublicKey });
    await relay.run();
    return relay;
  }

  /** Restarts the relay with other HTTP limits. */
  async run(http: Partial<HttpLimits> = {}): Promise<void> {
    await this.#relay?.close();
    const configuration = readRelayEnvironment(this.#terminal.environment);
    const clock = () => this.#terminal.now;
    this.#relay = await startRelay(
      { ...configuration, http: { ...configuration.http, checkEveryMilliseconds: 20, ...http } },
      { log: createMemoryLog().log, clock, monotonic: clock, registrationThread },
    );
  }

  /**
   * Restarts the relay with this URL for Google (default: the usual stand-in) and this limit on in-flight
   * notifications.
   */
  async askGoogleAt(url = this.#vendors.urls.fcm, notificationsInFlight = 8): Promise<void> {
    Object.assign(this.#terminal.environment, {
      RELAY_FCM_BASE_URL: url,
      RELAY_MAXIMUM_NOTIFICATIONS_IN_FLIGHT: `${notificationsInFlight}`,
    });
    await this.run();
  }

  get url(): string {
    return this.#relay?.url ?? '';
  }

  get now(): number {
    return this.#terminal.now;
  }

  /** Advances the clock. A minute restores all quotas. */
  pass(milliseconds = 60_000): void {
    this.#terminal.now += milliseconds;
    // The relay accepts a sealed registration for one day, so this one is renewed after half a day.
    if (this.now - this.#modestFormAt < 43_200_000) return;
    this.#modestForm = this.registration({ token: 'modest' }, this.#modest);
    this.#modestFormAt = this.now;
  }

  /** Path of the admin socket that the relay's commands use. */
  get adminSocket(): string {
    return this.#terminal.environment.RELAY_KEY_ADMIN_SOCKET ?? '';
  }

  /** Blocks all writes to the database until {@link HeldOpen.release} is called. */
  holdDatabase(): Promise<void> {
    const isOnPostgres = this.#terminal.environment.RELAY_DATABASE?.startsWith('postgres');
    return this.#held.hold((stay) =>
      withDatabase(this.#terminal, (database) =>
        database.write(async ({ db }) => {
          await sql`delete from schedules where name = 'of nobody'`.execute(db);
          if (isOnPostgres) await sql`lock table schedules in share mode`.execute(db);
          await stay();
        }),
      ),
    );
  }

  releaseDatabase(): Promise<void> {
    return this.#held.release();
  }

  /** Adds this many other servers. Returns their `Authorization` header values. */
  async addServers(count: number): Promise<string[]> {
    const key = generateCredential().reveal();
    const row = { name: 'one of many', key_hash: hashCredential(key), created_at: 0, deactivated_at: null };
    const ids = Array.from({ length: count }, () => randomUUID());
    await withDatabase(this.#terminal, (database) =>
      database.write(async ({ db }) => {
        for (let from = 0; from < count; from += 1000) {
          const rows = ids.slice(from, from + 1000).map((id) => ({ ...row, id }));
          await db.insertInto('servers').values(rows).execute();
        }
      }),
    );
    return ids.map((id) => basic(id, key));
  }

  /** Makes the greedy server's key invalid or valid again. */
  async setGreedyKey(isRight: boolean): Promise<void> {
    const [id = '', key = ''] = Buffer.from(this.greedy.authorization.slice(6), 'base64')
      .toString()
      .split(':');
    const key_hash = hashCredential(isRight ? key : `not ${key}`);
    await withDatabase(this.#terminal, ({ db }) =>
      db.updateTable('servers').set({ key_hash }).where('id', '=', id).execute(),
    );
  }

  /** Lowers the sequence numbers of all registrations by this many milliseconds. */
  async ageSequences(milliseconds: number): Promise<void> {
    await withDatabase(this.#terminal, ({ db }) =>
      sql`update registration_sequences set presented_at = presented_at - ${milliseconds}`.execute(db),
    );
  }

  get metricsUrl(): string {
    return this.#relay?.metricsUrl ?? '';
  }

  async metricsText(): Promise<string> {
    return (await fetch(this.metricsUrl, { headers: { connection: 'close' } })).text();
  }

  honest(): readonly Question[] {
    const { authorization } = this.#modest;
    const all = [
      form(this.url + relayRegisterPath, authorization, this.#modestForm),
      question(`${this.url}${relayReceiptsPath}?ids=${randomUUID()}`, authorization),
      { url: this.url + keyListPath },
      { url: `${this.url}/health/live` },
    ];
    return all.map((one) => ({ ...one, localAddress: '127.0.0.2' }));
  }

  /** The form fields for a phone with this sealed registration. */
  registration(sealed: object, { realmUuid } = this.greedy): Fields {
    const plaintext = { token_kind: 'fcm', timestamp: Math.floor(this.now / 1000), ...sealed };
    const key = Buffer.from(this.#bouncerPublicKey, 'base64');
    const box = sodium.seal(new TextEncoder().encode(JSON.stringify(plaintext)), key);
    return {
      realm_uuid: realmUuid,
      push_account_id: '7',
      encrypted_push_registration: encodeBase64(box),
      bouncer_public_key: this.#bouncerPublicKey,
    };
  }

  /** Registers a device for the greedy server. Returns the device id. */
  async device(token: string, push_account_id = '7'): Promise<number> {
    const { authorization } = this.greedy;
    const fields = { ...this.registration({ token }), push_account_id };
    const { status, body } = await ask(form(this.url + relayRegisterPath, authorization, fields));
    if (status !== 200) throw new Error(`the relay registered no phone for ${token}: ${body?.msg}`);
    return Number(body?.device_id);
  }

  /** A notify request from the greedy server with this many notifications to one device. */
  notification(deviceId: number, count = 1, wishes: object = {}): Question {
    const payload = { push_account_id: 7, encrypted_data: Buffer.alloc(700, 7).toString('base64') };
    const one = { device_id: deviceId, fcm_priority: 'high', payload, ...wishes };
    const body = { realm_uuid: this.greedy.realmUuid, push_requests: Array(count).fill(one) };
    const headers = { authorization: this.greedy.authorization, 'content-type': 'application/json' };
    return { url: this.url + relayNotifyPath, method: 'POST', headers, body: JSON.stringify(body) };
  }

  async vendorFaults(rules: readonly object[]): Promise<void> {
    const body = JSON.stringify({ rules });
    const { status } = await fetch(`${this.#vendors.urls.http}/faults`, { method: 'PUT', body });
    if (status !== 200) throw new Error(`the stand-ins refused the faults: ${status}`);
  }

  async close(): Promise<void> {
    await this.#relay?.close();
    await this.#vendors.close();
    rmSync(this.#terminal.folder, { recursive: true, force: true });
  }
}

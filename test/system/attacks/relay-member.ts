import { randomUUID } from 'node:crypto';
import {
  type JsonObject,
  keyListPath,
  relayNotifyPath,
  relayRegisterPath,
  stringifyJson,
} from '@waxwing/protocol';
import { Secret } from '@waxwing/service/config';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { openRelayDatabase } from '#relay/open-database.js';
import { addServer } from '#relay/servers/manage-servers.js';
import type { RelayDatabase } from '#relay/tables.js';
import type { Constellation } from '../../support/constellation.js';
import { type Asked, ask, askPatiently, basicAuthorization } from '../crash/ask.js';
import { CrashPhone } from '../crash/crash-phone.js';
import type { HonestRequest } from './honest-user.js';

/** An organization's server with one realm, as a relay sees it. */
export class RelayMember {
  readonly authorization: string;
  readonly realmUuid: string;
  readonly #world: Constellation;

  private constructor(world: Constellation, realmUuid: string, authorization: string) {
    this.#world = world;
    this.realmUuid = realmUuid;
    this.authorization = authorization;
  }

  /** Adds a member as the CLI command does, but without spawning a process. */
  static async add(world: Constellation): Promise<RelayMember> {
    const realmUuid = randomUUID();
    return withRelayDatabase(world, async (database) => {
      const added = await addServer(database, { name: realmUuid, realmUuids: [realmUuid] }, Date.now());
      const authorization = basicAuthorization(added.serverId, added.serverKey.reveal());
      return new RelayMember(world, realmUuid, authorization);
    });
  }

  /**
   * Registers a phone and returns its device id. Like a server, retries up to twice if the machine stalls and the relay
   * ends the connection. @throws Error if the relay does not register the phone.
   */
  async register(phone: CrashPhone, sealed = phone.sealedRegistration): Promise<number> {
    const form = { ...this.registrationForm(phone), encrypted_push_registration: sealed };
    const url = this.#world.relayUrl + relayRegisterPath;
    const asked = await askPatiently(() => ask(url, this.authorization, new URLSearchParams(form)));
    if (asked.status !== 200)
      throw new Error(`the relay refused a registration: ${asked.status} ${stringifyJson(asked.body)}`);
    return Number(asked.body.device_id);
  }

  notify(deviceId: number, phone: CrashPhone): Promise<Asked> {
    const { url, body = '' } = this.#notification(deviceId, phone);
    return ask(url, this.authorization, body);
  }

  /**
   * Everyday requests from a server (registrations, notifications, the key list), and a load balancer's health check.
   */
  async honestRequests(): Promise<HonestRequest[]> {
    const { relayUrl } = this.#world;
    const phone = await newPhone(this.#world);
    const deviceId = await this.register(phone);
    return [
      this.#registration(phone),
      this.#notification(deviceId, phone),
      { name: 'key list', url: relayUrl + keyListPath, method: 'GET' },
      { name: 'health', url: `${relayUrl}/health/live`, method: 'GET' },
    ];
  }

  /** The form fields that register a phone. */
  registrationForm(phone: CrashPhone): Record<string, string> {
    return {
      realm_uuid: this.realmUuid,
      push_account_id: phone.pushAccountId,
      encrypted_push_registration: phone.sealedRegistration,
      bouncer_public_key: phone.bouncerPublicKey,
    };
  }

  /** The body of a request that sends this many notifications to a phone. */
  notificationBody(deviceId: number, phone: CrashPhone, count = 1): string {
    return this.#bodyOf(Array(count).fill(this.pushRequest(deviceId, phone)));
  }

  pushRequest(deviceId: number, phone: CrashPhone): JsonObject {
    const payload = { push_account_id: BigInt(phone.pushAccountId), encrypted_data: phone.seal('{}') };
    return { device_id: deviceId, fcm_priority: 'high', payload };
  }

  notifyAll(requests: readonly JsonObject[]): Promise<Asked> {
    return ask(this.#world.relayUrl + relayNotifyPath, this.authorization, this.#bodyOf(requests));
  }

  #bodyOf(requests: readonly JsonObject[]): string {
    return stringifyJson({ realm_uuid: this.realmUuid, push_requests: [...requests] });
  }

  #registration(phone: CrashPhone): HonestRequest {
    const form = new URLSearchParams(this.registrationForm(phone)).toString();
    return this.#post('register', relayRegisterPath, 'application/x-www-form-urlencoded', form);
  }

  #notification(deviceId: number, phone: CrashPhone): HonestRequest {
    const body = this.notificationBody(deviceId, phone);
    return this.#post('notify', relayNotifyPath, 'application/json', body);
  }

  #post(name: string, path: string, type: string, body: string): HonestRequest {
    const headers = { authorization: this.authorization, 'content-type': type };
    return { name, url: this.#world.relayUrl + path, method: 'POST', headers, body };
  }
}

export async function newPhone(
  { bouncerPublicKey }: Constellation,
  kind: 'fcm' | 'apns' = 'fcm',
): Promise<CrashPhone> {
  const { sodium } = await loadFastestSodium();
  return new CrashPhone({ sodium, bouncerPublicKey, kind });
}

/** Runs `work` on the relay's database while the relay runs, like operators' commands. */
export async function withRelayDatabase<T>(
  { relayEnv }: Constellation,
  work: (database: RelayDatabase) => Promise<T>,
): Promise<T> {
  const database = await openRelayDatabase({
    url: new Secret(relayEnv.RELAY_DATABASE ?? ''),
    role: 'visiting',
    clock: Date.now,
    onJobError: (error) => {
      throw error;
    },
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

import { randomUUID } from 'node:crypto';
import {
  type JsonObject,
  relayNotifyPath,
  relayRegisterManyPath,
  relayRegisterPath,
  stringifyJson,
} from '@waxwing/protocol';
import { type Asked, ask, unlessSilent } from './ask.js';
import { CrashPhone, type CrashPhoneOptions, type PhoneKind, phoneKinds } from './crash-phone.js';
import type { Ledger } from './ledger.js';
import { pause } from './pause.js';

export interface RelayLoadOptions {
  readonly ledger: Ledger;
  /** Returns the URL of a running relay, which may be a different one each time. */
  relayUrl(): string;
  readonly authorization: string;
  readonly realmUuid: string;
  readonly phone: Required<Pick<CrashPhoneOptions, 'sodium' | 'bouncerPublicKey' | 'webPushUrl'>>;
  /** Minimum number of phones to register. Default: as many as time allows. */
  readonly phones?: number;
  readonly random: () => number;
  /** Kinds of phones to simulate. Default: all. */
  readonly kinds?: readonly PhoneKind[];
}

interface RegisteredPhone {
  readonly phone: CrashPhone;
  /** `undefined` in the newer generation, where the token identifies the device. */
  readonly deviceId: number | undefined;
}

const pauseMilliseconds = 80;
const againMilliseconds = 50;
const mostPerRequest = 2;
/** Number of concurrent registrations: enough for the relay to use its writer thread. */
const crowd = 20;

/**
 * Acts as a chat server: registers and notifies phones through the relay, and retries each request until it succeeds.
 * Half of the phones use the newer generation of the protocol.
 */
export class RelayLoad {
  readonly #options: RelayLoadOptions;
  readonly #devices: RegisteredPhone[] = [];
  #isStopping = false;
  #count = 0;

  constructor(options: RelayLoadOptions) {
    this.#options = options;
  }

  /** Sends requests until {@link stop}, then completes the current ones. */
  async run(workers: number): Promise<void> {
    await Promise.all(Array.from({ length: workers }, () => this.#work()));
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** Sends a last notification to every registered phone, to check that all of them are reachable. */
  async notifyAll(): Promise<void> {
    for (let start = 0; start < this.#devices.length; start += 100) {
      await this.#notify(this.#devices.slice(start, start + 100));
    }
  }

  async #work(): Promise<void> {
    const { random } = this.#options;
    const { phones = 0 } = this.#options;
    while (!this.#isStopping || this.#devices.length < phones) {
      const isShort = this.#devices.length < phones;
      if (random() < (isShort ? 0.4 : 0.04)) await this.#registerCrowd();
      else if (this.#devices.length === 0 || random() < 0.4) await this.#register();
      else await this.#notify(this.#pick(1 + Math.floor(random() * mostPerRequest)));
      await pause(pauseMilliseconds * random());
    }
  }

  #pick(count: number): RegisteredPhone[] {
    const picked = new Set<RegisteredPhone>();
    while (picked.size < Math.min(count, this.#devices.length)) {
      const one = this.#devices[Math.floor(this.#options.random() * this.#devices.length)];
      if (one !== undefined) picked.add(one);
    }
    return [...picked];
  }

  async #register(): Promise<void> {
    const { realmUuid } = this.#options;
    const phone = this.#newPhone();
    const form = new URLSearchParams({
      realm_uuid: realmUuid,
      ...(phone.generation === 'newer'
        ? { token_id: phone.tokenId }
        : { push_account_id: phone.pushAccountId }),
      encrypted_push_registration: phone.sealedRegistration,
      bouncer_public_key: phone.bouncerPublicKey,
    });
    const { body } = await this.#askUntilSuccess(relayRegisterPath, form);
    this.#acknowledged(phone, body);
  }

  async #registerCrowd(): Promise<void> {
    const phones = Array.from({ length: crowd }, () => this.#newPhone());
    const registrations = phones.map((phone) => ({
      ...(phone.generation === 'newer'
        ? { token_id: phone.tokenId }
        : { push_account_id: BigInt(phone.pushAccountId) }),
      encrypted_push_registration: phone.sealedRegistration,
      bouncer_public_key: phone.bouncerPublicKey,
    }));
    const content = stringifyJson({ realm_uuid: this.#options.realmUuid, registrations });
    const { body } = await this.#askUntilSuccess(relayRegisterManyPath, content);
    const results = body.results as readonly JsonObject[];
    for (const [index, phone] of phones.entries()) {
      const result = results[index] ?? {};
      // A registration that failed within a batch does not count as acknowledged.
      if (result.result === 'success') this.#acknowledged(phone, result);
    }
  }

  #newPhone(): CrashPhone {
    const { ledger, phone: phoneOptions, random, kinds = phoneKinds } = this.#options;
    const phone = new CrashPhone({
      ...phoneOptions,
      kind: kinds[Math.floor(random() * kinds.length)] ?? 'fcm',
      generation: random() < 0.5 ? 'older' : 'newer',
    });
    ledger.know(phone);
    return phone;
  }

  #acknowledged(phone: CrashPhone, { device_id: deviceId }: JsonObject): void {
    this.#options.ledger.registrationAcknowledged(phone);
    if ((deviceId === undefined) !== (phone.generation === 'newer')) {
      throw new Error(
        `the relay responded to a ${phone.generation} registration with the device id ${deviceId}`,
      );
    }
    this.#devices.push({ phone, deviceId: deviceId === undefined ? undefined : Number(deviceId) });
  }

  async #notify(devices: readonly RegisteredPhone[]): Promise<void> {
    const { ledger, realmUuid } = this.#options;
    const sent = devices.map((device) => {
      this.#count += 1;
      const encrypted = device.phone.seal(JSON.stringify({ type: 'test', number: this.#count }));
      return { device, encrypted };
    });
    const requests = sent.map(({ device, encrypted }) => pushRequest(device, encrypted));
    const content = stringifyJson({ realm_uuid: realmUuid, push_requests: requests });
    const { body } = await this.#askUntilSuccess(relayNotifyPath, content);
    const results = body.results as readonly { readonly status: string; readonly reason?: string }[];
    for (const [index, { device, encrypted }] of sent.entries()) {
      const { status = 'nothing', reason = '' } = results[index] ?? {};
      const { phone } = device;
      if (status === 'sent' || status === 'queued') {
        ledger.notificationAcknowledged({ phone, matches: (ciphertext) => ciphertext === encrypted });
      } else {
        const { name, id } = phone.keyField;
        ledger.registrationLost(phone, `the relay's device of ${name} ${id}: ${status} ${reason}`);
      }
    }
  }

  /** @throws Error for a response that a working relay would not send. */
  async #askUntilSuccess(path: string, content: URLSearchParams | string): Promise<Asked> {
    for (;;) {
      const asked = await unlessSilent(
        ask(this.#options.relayUrl() + path, this.#options.authorization, content),
      );
      if (asked?.status === 200) return asked;
      if (asked !== undefined && asked.status !== 503) {
        throw new Error(`the relay responded to ${path} with ${asked.status}: ${stringifyJson(asked.body)}`);
      }
      await pause(againMilliseconds);
    }
  }
}

function pushRequest({ phone, deviceId }: RegisteredPhone, encrypted: string): JsonObject {
  const isNewer = deviceId === undefined;
  const { name, id } = phone.keyField;
  const payload = { [name]: isNewer ? Number(id) : BigInt(id), encrypted_data: encrypted };
  const shared = {
    ...(isNewer ? { token_id: phone.tokenId } : { device_id: deviceId }),
    notification_id: randomUUID(),
  };
  if (phone.tokenKind !== 'apns') return { ...shared, fcm_priority: 'high', payload };
  const aps = { 'mutable-content': 1, alert: { title: 'New notification' } };
  return {
    ...shared,
    http_headers: { apns_priority: 10, apns_push_type: 'alert' },
    payload: { ...payload, aps },
  };
}

import {
  type JsonObject,
  registerPushDevicePath,
  stringifyJson,
  testNotificationPath,
} from '@waxwing/protocol';
import type { ConstellationUser } from '../../support/constellation.js';
import { ask, basicAuthorization, unlessSilent } from './ask.js';
import { CrashPhone, type CrashPhoneOptions } from './crash-phone.js';
import type { Ledger } from './ledger.js';
import { pause } from './pause.js';

export interface ServerLoadOptions {
  readonly ledger: Ledger;
  /** The current URL of a server, perhaps of another one each time. */
  serverUrl(): string;
  readonly users: readonly ConstellationUser[];
  readonly phone: Pick<CrashPhoneOptions, 'sodium' | 'bouncerPublicKey'>;
  readonly random: () => number;
}

interface UserPhone {
  readonly phone: CrashPhone;
  lastTestAt: number;
}

interface LoadUser {
  readonly authorization: string;
  readonly phones: UserPhone[];
  tests: number;
  /** Phones whose registration has not been seen active. */
  readonly unsettled: Set<CrashPhone>;
}

const pauseMilliseconds = 60;
const againMilliseconds = 50;
const mostPhonesPerUser = 40;
// The server's limits: one in ten seconds for a device, twenty an hour for a user; the last check needs one of these.
const testIntervalMilliseconds = 10_100;
const mostTestsPerUser = 15;

/** Phones of many users: register with the server and ask for test notifications. */
export class ServerLoad {
  readonly #options: ServerLoadOptions;
  readonly #users: LoadUser[];
  #isStopping = false;

  constructor(options: ServerLoadOptions) {
    this.#options = options;
    this.#users = options.users.map(({ email, api_key: key }) => ({
      authorization: basicAuthorization(email, key),
      phones: [],
      tests: 0,
      unsettled: new Set(),
    }));
  }

  async run(workers: number): Promise<void> {
    await Promise.all(Array.from({ length: workers }, () => this.#work()));
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** Resolves when the server reports every phone as active or failed, at the latest when `isOver`. */
  async settle(isOver: () => boolean): Promise<void> {
    for (const user of this.#users) {
      while (user.unsettled.size > 0) {
        await this.#lookAt(user);
        if (user.unsettled.size === 0) break;
        if (isOver()) {
          for (const phone of user.unsettled) this.#lost(phone, 'still pending in the end');
          break;
        }
        await pause(4 * againMilliseconds);
      }
    }
  }

  /** One last notification to all phones of every user: what was registered must be reachable. */
  async notifyAll(isOver: () => boolean): Promise<void> {
    await Promise.all(this.#users.map((user) => this.#notifyUser(user, isOver)));
  }

  async #work(): Promise<void> {
    const { random } = this.#options;
    while (!this.#isStopping) {
      const user = this.#users[Math.floor(random() * this.#users.length)];
      if (user === undefined) return;
      const idle = user.phones.find(({ lastTestAt }) => Date.now() - lastTestAt > testIntervalMilliseconds);
      if (idle !== undefined && user.tests < mostTestsPerUser && random() < 0.6) await this.#test(user, idle);
      else if (user.phones.length < mostPhonesPerUser) await this.#register(user);
      await pause(pauseMilliseconds * random());
    }
  }

  async #register(user: LoadUser): Promise<void> {
    const { ledger, phone: phoneOptions, random, serverUrl } = this.#options;
    const phone = new CrashPhone({ ...phoneOptions, tokenKind: random() < 0.5 ? 'fcm' : 'apns' });
    ledger.know(phone);
    const form = new URLSearchParams(phone.registration);
    for (;;) {
      const asked = await unlessSilent(ask(serverUrl() + registerPushDevicePath, user.authorization, form));
      if (asked?.status === 200) break;
      if (asked !== undefined && asked.status !== 503) {
        throw new Error(
          `the server answered a registration with ${asked.status}: ${stringifyJson(asked.body)}`,
        );
      }
      await pause(againMilliseconds);
    }
    ledger.registrationAcknowledged(phone);
    user.unsettled.add(phone);
    user.phones.push({ phone, lastTestAt: 0 });
  }

  /** Sent once: a retry would be another notification. */
  async #test(user: LoadUser, target: UserPhone): Promise<void> {
    const { serverUrl } = this.#options;
    const startedAt = Date.now();
    target.lastTestAt = startedAt;
    user.tests += 1;
    const form = new URLSearchParams({ push_account_id: target.phone.pushAccountId });
    const asked = await unlessSilent(ask(serverUrl() + testNotificationPath, user.authorization, form));
    if (asked?.status === 200) this.#acknowledge([target.phone], startedAt);
  }

  async #notifyUser(user: LoadUser, isOver: () => boolean): Promise<void> {
    if (user.phones.length === 0) return;
    const { serverUrl } = this.#options;
    for (;;) {
      const startedAt = Date.now();
      const asked = await unlessSilent(
        ask(serverUrl() + testNotificationPath, user.authorization, new URLSearchParams()),
      );
      if (asked?.status === 200) {
        return this.#acknowledge(
          user.phones.map(({ phone }) => phone),
          startedAt,
        );
      }
      if (isOver()) {
        for (const { phone } of user.phones) {
          this.#lost(phone, `no last notification: ${stringifyJson(asked?.body ?? null)}`);
        }
        return;
      }
      await pause(4 * againMilliseconds);
    }
  }

  /** A device gets at most one in ten seconds, so the second of the request identifies each. */
  #acknowledge(phones: readonly CrashPhone[], startedAt: number): void {
    const [from, to] = [Math.floor(startedAt / 1000), Math.floor(Date.now() / 1000)];
    for (const phone of phones) {
      this.#options.ledger.notificationAcknowledged({
        phone,
        matches: (_ciphertext, { time }) => Number(time) >= from && Number(time) <= to,
      });
    }
  }

  async #lookAt(user: LoadUser): Promise<void> {
    const form = new URLSearchParams({ event_types: '[]', fetch_event_types: '["push_device"]' });
    const asked = await unlessSilent(
      ask(`${this.#options.serverUrl()}/api/v1/register`, user.authorization, form),
    );
    if (asked?.status !== 200) return;
    const devices = asked.body.push_devices as Record<string, JsonObject>;
    for (const phone of user.unsettled) {
      const device = devices[phone.pushAccountId];
      if (device?.status === 'pending') continue;
      user.unsettled.delete(phone);
      if (device?.status === 'active') continue;
      this.#lost(phone, device === undefined ? 'gone' : `failed with ${String(device.error_code)}`);
    }
  }

  #lost(phone: CrashPhone, how: string): void {
    this.#options.ledger.registrationLost(phone, `the server's device ${phone.pushAccountId}: ${how}`);
  }
}

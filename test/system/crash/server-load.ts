import { type JsonObject, stringifyJson, testNotificationPath } from '@waxwing/protocol';
import type { ConstellationUser } from '../../support/constellation.js';
import { type Asked, ask, basicAuthorization, unlessSilent } from './ask.js';
import { CrashPhone, type CrashPhoneOptions, type PhoneKind, phoneKinds } from './crash-phone.js';
import type { Ledger } from './ledger.js';
import { pause } from './pause.js';
import { registerWithServer, type ServerPhone, stateTypes, statusIn } from './server-phones.js';

export interface ServerLoadOptions {
  readonly ledger: Ledger;
  /** Returns the URL of a running server, which may be a different one each time. */
  serverUrl(): string;
  readonly users: readonly ConstellationUser[];
  readonly phone: Required<Pick<CrashPhoneOptions, 'sodium' | 'bouncerPublicKey' | 'webPushUrl'>>;
  readonly random: () => number;
  /** Kinds of phones to simulate. Default: all. */
  readonly kinds?: readonly PhoneKind[];
}

interface UserPhone extends ServerPhone {
  lastTestAt: number;
}

interface LoadUser {
  readonly id: number;
  readonly authorization: string;
  readonly phones: UserPhone[];
  tests: number;
  /** Phones whose registration has not been reported as active yet. */
  readonly unsettled: Set<ServerPhone>;
}

const pauseMilliseconds = 60;
const againMilliseconds = 50;
const mostPhonesPerUser = 40;
// The server allows one test per device in ten seconds, and 20 per user in an hour. The final check needs one of them.
const testIntervalMilliseconds = 10_100;
const mostTestsPerUser = 15;
/** Fraction of actions that send a message. Other actions request a test notification or register a phone. */
const shareOfMessages = 0.4;

/**
 * Simulates the phones of many users. The phones register with the server and request test notifications, which the
 * server sends immediately. The users also send messages to each other, for which the server notifies phones through
 * jobs. Half of the phones use the newer generation of the protocol.
 */
export class ServerLoad {
  readonly #options: ServerLoadOptions;
  readonly #users: LoadUser[];
  #messages = 0;
  #isStopping = false;

  constructor(options: ServerLoadOptions) {
    this.#options = options;
    this.#users = options.users.map(({ user_id: id, email, api_key: key }) => ({
      id,
      authorization: basicAuthorization(email, key),
      phones: [],
      tests: 0,
      unsettled: new Set(),
    }));
  }

  /** Registers two phones of each user. Resolves when all are active, or when `isOver` returns true. */
  async prepare(isOver: () => boolean): Promise<void> {
    for (const _phone of [1, 2]) await Promise.all(this.#users.map((user) => this.#register(user)));
    await this.settle(isOver);
  }

  /** Sends each user a message from another user. */
  async writeToAll(): Promise<void> {
    for (const user of this.#users) await this.#write(user);
  }

  async run(workers: number): Promise<void> {
    await Promise.all(Array.from({ length: workers }, () => this.#work()));
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** Resolves when the server reports every phone as active or failed, or when `isOver` returns true. */
  async settle(isOver: () => boolean): Promise<void> {
    for (const user of this.#users) {
      while (user.unsettled.size > 0) {
        await this.#lookAt(user);
        if (user.unsettled.size === 0) break;
        if (isOver()) {
          for (const { phone } of user.unsettled) this.#lost(phone, 'still pending at the end');
          break;
        }
        await pause(4 * againMilliseconds);
      }
    }
  }

  /** Sends a last notification to all phones of each user, to check that all registered phones are reachable. */
  async notifyAll(isOver: () => boolean): Promise<void> {
    await Promise.all(this.#users.map((user) => this.#notifyUser(user, isOver)));
  }

  async #work(): Promise<void> {
    const { random } = this.#options;
    while (!this.#isStopping) {
      const user = this.#users[Math.floor(random() * this.#users.length)];
      if (user === undefined) return;
      if (user.phones.length > 0 && random() < shareOfMessages) {
        await this.#write(user);
        continue;
      }
      const idle = user.phones.find(({ lastTestAt }) => Date.now() - lastTestAt > testIntervalMilliseconds);
      if (idle !== undefined && user.tests < mostTestsPerUser && random() < 0.6) await this.#test(user, idle);
      else if (user.phones.length < mostPhonesPerUser) await this.#register(user);
      await pause(pauseMilliseconds * random());
    }
  }

  async #register(user: LoadUser): Promise<void> {
    const { ledger, phone: phoneOptions, random, kinds = phoneKinds } = this.#options;
    const phone = new CrashPhone({
      ...phoneOptions,
      kind: kinds[Math.floor(random() * kinds.length)] ?? 'fcm',
      generation: random() < 0.5 ? 'older' : 'newer',
    });
    ledger.know(phone);
    const registered = await registerWithServer(phone, (path, form) =>
      this.#askUntilAnswered(user, path, form),
    );
    ledger.registrationAcknowledged(phone);
    const added = { ...registered, lastTestAt: 0 };
    user.unsettled.add(added);
    user.phones.push(added);
  }

  async #askUntilAnswered(
    { authorization }: LoadUser,
    path: string,
    form: Readonly<Record<string, string>>,
  ): Promise<Asked> {
    for (;;) {
      const url = this.#options.serverUrl() + path;
      const asked = await unlessSilent(ask(url, authorization, new URLSearchParams(form)));
      if (asked !== undefined && asked.status !== 503) return asked;
      await pause(againMilliseconds);
    }
  }

  /** Requests a test notification. Does not retry, because a retry would create a second notification. */
  async #test(user: LoadUser, target: UserPhone): Promise<void> {
    const { serverUrl } = this.#options;
    const startedAt = Date.now();
    target.lastTestAt = startedAt;
    user.tests += 1;
    const form = new URLSearchParams(target.name);
    const asked = await unlessSilent(ask(serverUrl() + testNotificationPath, user.authorization, form));
    if (asked?.status === 200) this.#acknowledge([target.phone], startedAt);
  }

  /**
   * Sends this user a message from another user. All phones that are already active must show it. Does not retry,
   * because a retry would create a second message.
   */
  async #write(user: LoadUser): Promise<void> {
    const { ledger, serverUrl, random } = this.#options;
    const others = this.#users.filter((other) => other !== user);
    const sender = others[Math.floor(random() * others.length)];
    if (sender === undefined) return;
    await this.#lookAt(user);
    const active = user.phones.filter((phone) => !user.unsettled.has(phone));
    this.#messages += 1;
    const content = `message ${this.#messages}`;
    const form = new URLSearchParams({ type: 'direct', to: stringifyJson([user.id]), content });
    const asked = await unlessSilent(ask(`${serverUrl()}/api/v1/messages`, sender.authorization, form));
    if (asked?.status !== 200) return;
    for (const { phone } of active) {
      const matches = (_ciphertext: string, opened: JsonObject) => opened.content === content;
      ledger.notificationAcknowledged({ phone, isMessage: true, matches });
    }
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
          this.#lost(phone, `the last notification failed: ${stringifyJson(asked?.body ?? null)}`);
        }
        return;
      }
      await pause(4 * againMilliseconds);
    }
  }

  /**
   * Records a notification as acknowledged. The time in seconds identifies it, because a device gets at most one test
   * per ten seconds.
   */
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
    // Takes a copy, because the response does not include phones that register while the request is in flight.
    const unsettled = [...user.unsettled];
    const form = new URLSearchParams({ event_types: '[]', fetch_event_types: stateTypes });
    const asked = await unlessSilent(
      ask(`${this.#options.serverUrl()}/api/v1/register`, user.authorization, form),
    );
    if (asked?.status !== 200) return;
    for (const phone of unsettled) {
      const status = statusIn(asked.body, phone);
      // A concurrent check may have settled this phone already.
      if (status === 'pending' || !user.unsettled.delete(phone)) continue;
      if (status !== 'active') this.#lost(phone.phone, status);
    }
  }

  #lost(phone: CrashPhone, how: string): void {
    const { name, id } = phone.keyField;
    this.#options.ledger.registrationLost(phone, `the server's device of ${name} ${id}: ${how}`);
  }
}

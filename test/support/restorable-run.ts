import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  type Fetch,
  type PushToken,
  type Registrar,
} from '@waxwing/client';
import { primaryKey } from '#relay/keyring/ring/key-ring.js';
import { announcing, olderLevel } from './announcing.js';
import { idle } from './idle.js';
import {
  type RestorableAccount,
  type RestorableWorld,
  restorableRealm,
  type StoredSide,
} from './restorable-world.js';

/** The vendors' deliveries for one message. */
export interface Arrived {
  /** Number of deliveries to each of the user's phones, by the phone's current token. */
  readonly perToken: ReadonlyMap<string, number>;
  /** Tokens of the other user that got a delivery. */
  readonly ofOthers: readonly string[];
}

const waitMilliseconds = 11 * 60_000;
/** Longer than the server's backoff while the relay is unreachable. */
const retryMilliseconds = 60_000;

interface Phone {
  readonly registrar: Registrar;
  readonly user: number;
  token: string;
}

/** The feature level announced to phones. If `undefined`, the server's own. */
interface Announced {
  level: number | undefined;
}

/** Executes one schedule of actions. */
export class Run {
  readonly #world: RestorableWorld;
  readonly #phones: readonly Phone[];
  /** Name of the backup that a restore uses, for each side. */
  readonly #backups: Record<StoredSide, string>;
  readonly #counted = new Map<string, number>();
  readonly #dead: string[] = [];
  readonly #announced: Announced;
  #messages = 0;

  private constructor(
    world: RestorableWorld,
    phones: readonly Phone[],
    announced: Announced,
    relayCopy: string,
  ) {
    this.#world = world;
    this.#phones = phones;
    this.#announced = announced;
    this.#backups = { relay: relayCopy, server: 'server-new' };
  }

  /**
   * Starts on new databases; see {@link RestorableWorld.reset}. `isOlder`: whether the server announces the older
   * generation.
   */
  static async begin(
    world: RestorableWorld,
    { isAhead, isOlder }: { readonly isAhead: boolean; readonly isOlder: boolean },
  ): Promise<Run> {
    const relayCopy = await world.reset({ isAhead });
    const announced = { level: isOlder ? olderLevel : undefined };
    const phones: Phone[] = [];
    for (const number of [0, 1, 2, 3]) {
      const user = number < 2 ? 0 : 1;
      const account = world.accounts[user] as RestorableAccount;
      const phone = { user, token: `fcm-${world.runs}-${number}-0` };
      const client = await createPushClient({
        bouncerPublicKey: await primaryKeyOf(world),
        pushToken: (): PushToken => ({ tokenKind: 'fcm', token: phone.token }),
        accounts: createMemoryPushAccountStore(),
        seen: createMemorySeenNotifications(),
        fetch: announcing(() => announced.level, fetchFrom(world)),
        clock: world.clock,
      });
      phones.push(
        Object.assign(phone, { registrar: client.registrar({ realmUrl: restorableRealm.url, ...account }) }),
      );
    }
    return new Run(world, phones, announced, relayCopy);
  }

  /** Makes the server announce the newer generation from now on. */
  upgrade(): void {
    this.#announced.level = undefined;
  }

  /** Syncs a phone, and returns its status code. */
  async sync(phone: number): Promise<string> {
    await this.#world.relay();
    return (await this.#phone(phone).registrar.sync()).code;
  }

  /** Replaces the phone's token at the vendor, which forgets the previous one. */
  async changeToken(number: number): Promise<void> {
    const phone = this.#phone(number);
    this.#dead.push(phone.token);
    const rules = this.#dead.map((token) => ({ vendor: 'fcm', token, status: 404, reason: 'UNREGISTERED' }));
    const body = JSON.stringify({ rules });
    await fetch(`${this.#world.vendors.urls.http}/faults`, { method: 'PUT', body });
    phone.token = `fcm-${this.#world.runs}-${number}-${this.#dead.length}`;
  }

  /** Sends a message from the other user, and waits until relay and server have run all due jobs. */
  async notify(user: number, away?: { readonly isRestored: boolean }): Promise<Arrived> {
    const world = this.#world;
    if (away === undefined) await world.relay();
    else await world.stop('relay');
    const server = await world.server();
    const sender = world.accounts[1 - user] as RestorableAccount;
    this.#messages += 1;
    const answer = await server.app.inject({
      method: 'POST',
      url: '/api/v1/messages',
      headers: {
        authorization: `Basic ${btoa(`${sender.email}:${sender.apiKey}`)}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      payload: new URLSearchParams({
        type: 'direct',
        to: JSON.stringify([world.accounts[user]?.userId]),
        content: `message ${this.#messages}`,
      }).toString(),
    });
    if (answer.statusCode !== 200) throw new Error(answer.body);
    if (away !== undefined) {
      await idle(server.database.jobs);
      if (away.isRestored) await this.restore('relay');
      await world.relay();
      world.time.ahead += retryMilliseconds;
    }
    await this.#idle();
    return this.#count(user);
  }

  async backUp(side: StoredSide): Promise<void> {
    await this.#world.stop(side);
    const copy = `${side}-backup`;
    await this.#world.copies.copy(side, copy);
    this.#backups[side] = copy;
  }

  async restore(side: StoredSide): Promise<void> {
    await this.#world.stop(side);
    await this.#world.copies.copy(this.#backups[side], side);
  }

  async wait(): Promise<void> {
    await this.#world.relay();
    this.#world.time.ahead += waitMilliseconds;
    await this.#idle();
  }

  async #idle(): Promise<void> {
    await idle((await this.#world.server()).database.jobs);
    await idle((await this.#world.relay()).context.database.jobs);
  }

  async #count(user: number): Promise<Arrived> {
    const response = await fetch(`${this.#world.vendors.urls.http}/deliveries`);
    const { deliveries } = (await response.json()) as { deliveries: { token: string }[] };
    const all = new Map<string, number>();
    for (const { token } of deliveries) all.set(token, (all.get(token) ?? 0) + 1);
    const isOf = (token: string, whose: number) =>
      this.#phones.some((phone, number) => {
        return phone.user === whose && token.startsWith(`fcm-${this.#world.runs}-${number}-`);
      });
    const more = new Map<string, number>();
    for (const { user: owner, token } of this.#phones) if (owner === user) more.set(token, 0);
    const ofOthers: string[] = [];
    for (const [token, count] of all) {
      const added = count - (this.#counted.get(token) ?? 0);
      this.#counted.set(token, count);
      if (added === 0) continue;
      if (isOf(token, user)) more.set(token, added);
      else if (isOf(token, 1 - user)) ofOthers.push(token);
    }
    return { perToken: more, ofOthers };
  }

  #phone(number: number): Phone {
    const phone = this.#phones[number];
    if (phone === undefined) throw new RangeError(`there is no phone ${number}`);
    return phone;
  }
}

async function primaryKeyOf(world: RestorableWorld): Promise<string> {
  return world.ring.keeper.look((ring) => primaryKey(ring).publicKey);
}

/** A `fetch` that sends a phone's requests to the server. */
function fetchFrom(world: RestorableWorld): Fetch {
  return async (url, { method = 'GET', headers = {}, body }) => {
    const { pathname, search } = new URL(url);
    const answer = await (await world.server()).app.inject({
      method: method as 'GET',
      url: pathname + search,
      headers: headers as Record<string, string>,
      ...(typeof body === 'string' ? { payload: body } : {}),
    });
    return new Response(answer.body, {
      status: answer.statusCode,
      headers: { 'content-type': 'application/json' },
    });
  };
}

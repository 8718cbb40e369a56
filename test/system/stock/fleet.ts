import { primaryKey } from '#relay/keyring/ring/key-ring.js';
import { revoke, rotate } from '#relay/keyring/ring/key-ring-transitions.js';
import { policy, sodium } from '../../apps/relay/keyring/ring-material.js';
import { type FleetPhone, type FleetUser, usersOfOurs, usersOfStock } from './fleet-phones.js';
import { newToken } from './stock-devices-of.js';
import type { StockServer } from './stock-server.js';
import { StockWorld } from './stock-world.js';

interface Expected {
  readonly phone: FleetPhone;
  readonly messageId: number;
  /** Of the phone, when the message was sent. */
  readonly epoch: number;
}

const minute = 60_000;
const hour = 60 * minute;
/** Longer than the relay's and the server's backoff after one failure. */
const settleMilliseconds = 10 * minute;

/** Phones of both generations at our server and at a stock server, which share our relay. */
export class Fleet {
  readonly world: StockWorld;
  readonly stock: StockServer;
  readonly users: readonly FleetUser[];
  /** Deliveries to phones after they logged out. */
  readonly afterLogout: string[] = [];
  /** Phones that a stock server left pending when its retries were used up, and that logged in again. */
  freed = 0;
  readonly #random: () => number;
  readonly #expected: Expected[] = [];
  readonly #dead: object[] = [];

  private constructor(parts: Pick<Fleet, 'world' | 'stock' | 'users'>, random: () => number) {
    this.world = parts.world;
    this.stock = parts.stock;
    this.users = parts.users;
    this.#random = random;
  }

  static async create({
    random,
    usersPerServer,
  }: {
    random: () => number;
    usersPerServer: number;
  }): Promise<Fleet> {
    const world = await StockWorld.create();
    await world.startRelay();
    await world.startServer();
    const sender = await world.addUser('sender');
    const stock = await world.stockServer('stock');
    const users = [
      ...(await usersOfOurs(world, sender, usersPerServer)),
      ...(await usersOfStock(world, stock, usersPerServer)),
    ];
    return new Fleet({ world, stock, users }, random);
  }

  get phones(): FleetPhone[] {
    return this.users.flatMap(({ phones }) => phones);
  }

  async signIn(phone: FleetPhone): Promise<void> {
    await phone.app.signIn();
    phone.isSignedIn = true;
  }

  async logOut(phone: FleetPhone): Promise<void> {
    await phone.app.logOut();
    phone.isSignedIn = false;
    phone.epoch += 1;
  }

  /** The vendor gives a phone another token, and never again delivers to the former one. */
  async changeToken({ app, isSignedIn }: FleetPhone): Promise<void> {
    const { token, kind } = app.phone;
    const refusal =
      kind === 'fcm' ? { status: 404, reason: 'UNREGISTERED' } : { status: 410, reason: 'Unregistered' };
    this.#dead.push({ vendor: kind, token, ...refusal });
    await this.#setFaults();
    app.phone.token = newToken(kind);
    if (isSignedIn) await app.start();
  }

  /** Some hours of use: messages, new tokens and keys, and logouts. */
  async use(hours: number): Promise<void> {
    this.world.time.ahead += hours * hour;
    for (let action = 0; action < 3; action += 1) await this.#useOne(this.#pick(this.phones));
    await this.#setFaults(this.#pick(this.phones));
    for (let message = 0; message < 3; message += 1) await this.notify(this.#pick(this.users));
  }

  async notify(user: FleetUser): Promise<void> {
    const { isRelayRunning } = this.world;
    const messageId = await user.notify();
    for (const phone of user.phones) {
      // A stock server gives up at once what it cannot send.
      const isSent = phone.isSignedIn && phone.app.isSettled && (phone.server === 'ours' || isRelayRunning);
      if (isSent) this.#expected.push({ phone, messageId, epoch: phone.epoch });
    }
  }

  /** Stops the relay while messages are on their way. */
  async beginOutage(): Promise<void> {
    const ours = this.users.filter(({ phones }) => phones[0]?.server === 'ours');
    await Promise.all([this.world.stopRelay(), this.notify(this.#pick(ours)), this.notify(this.#pick(ours))]);
  }

  /** Starts the relay, and lets the servers send what they queued. */
  async endOutage(): Promise<void> {
    await this.world.startRelay();
    await this.settle();
    for (const phone of this.phones) {
      if (phone.server !== 'stock' || !phone.isSignedIn || !phone.app.isPending) continue;
      this.freed += 1;
      await this.logOut(phone);
      await this.signIn(phone);
    }
  }

  /** Makes another bouncer key primary, and perhaps revokes the former one; then starts the relay again. */
  async changeKeys({ revokes }: { readonly revokes: boolean }): Promise<void> {
    await this.world.stopRelay();
    const makeKeyPair = () => sodium.generateKeyPair();
    const context = { now: this.world.clock(), policy, makeKeyPair };
    await this.world.ring.keeper.change(
      (ring) => (revokes ? revoke(ring, primaryKey(ring).id, context) : rotate(ring, context)),
      { actor: 'test', action: 'change' },
    );
    await this.world.startRelay();
  }

  /** Lets servers and relay finish, and phones receive what was delivered. A phone with a refused key gets an update. */
  async settle(): Promise<void> {
    for (const pause of [0, settleMilliseconds]) {
      this.world.time.ahead += pause;
      await this.stock.work();
      await this.world.idle();
      await this.#receive();
    }
    for (const phone of this.phones) {
      if (!phone.isSignedIn) continue;
      await phone.app.look();
      if (!phone.app.isFailed) continue;
      phone.app.phone.bouncerPublicKey = await this.world.bouncerPublicKey();
      await phone.app.start();
    }
  }

  /** Messages that did not arrive although the phone kept its token, and messages that were shown twice. */
  unfulfilled(): { readonly lost: string[]; readonly twice: string[]; readonly expected: number } {
    const name = ({ app }: FleetPhone, messageId: number) => `${app.phone.token} ${messageId}`;
    const lost = this.#expected
      .filter(({ phone, epoch }) => phone.epoch === epoch)
      .filter(({ phone, messageId }) => !phone.app.shown.has(messageId))
      .map(({ phone, messageId }) => name(phone, messageId));
    const twice = this.phones.flatMap((phone) =>
      [...phone.app.shown].filter(([, times]) => times > 1).map(([messageId]) => name(phone, messageId)),
    );
    return { lost, twice, expected: this.#expected.length };
  }

  async #useOne(phone: FleetPhone): Promise<void> {
    const chance = this.#random();
    if (!phone.isSignedIn) return this.signIn(phone);
    if (chance < 0.15) return this.logOut(phone);
    if (chance < 0.5) {
      phone.epoch += 1;
      return this.changeToken(phone);
    }
    if (chance < 0.8) phone.app.rotateKey();
    await phone.app.start();
  }

  async #receive(): Promise<void> {
    for (const { token, body } of await this.world.takeDeliveries()) {
      const phone = this.phones.find(({ app }) => app.phone.token === token);
      if (phone?.isSignedIn) phone.app.receive(body);
      else this.afterLogout.push(token);
    }
  }

  /** Dead tokens, and a vendor that is busy once for the current token of one phone. */
  async #setFaults(busy?: FleetPhone): Promise<void> {
    const { kind: vendor, token } = busy?.app.phone ?? {};
    const reason = vendor === 'fcm' ? 'UNAVAILABLE' : 'ServiceUnavailable';
    const once = busy === undefined ? [] : [{ vendor, token, status: 503, reason, times: 1 }];
    await this.world.setFaults([...once, ...this.#dead]);
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.#random() * items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }
}

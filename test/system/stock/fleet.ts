import { primaryKey } from '#relay/keyring/ring/key-ring.js';
import { revoke, rotate } from '#relay/keyring/ring/key-ring-transitions.js';
import { tokenRemoving } from '#server-push/client-devices/remove-tokens.js';
import { relayDeviceRemoving } from '#server-push/push-devices/remove-relay-devices.js';
import { policy, sodium } from '../../apps/relay/keyring/ring-material.js';
import { type FleetAccount, type FleetUser, usersOfOurs, usersOfStock } from './fleet-phones.js';
import { OlderApp } from './older-app.js';
import { newToken } from './stock-devices-of.js';
import type { StockPhone } from './stock-phone.js';
import type { StockServer } from './stock-server.js';
import { StockWorld } from './stock-world.js';

interface Expected {
  readonly account: FleetAccount;
  readonly messageId: number;
  /** The account's epoch when the message was sent. */
  readonly epoch: number;
}

interface LogoutWhileQueued {
  readonly isOlder: boolean;
  readonly isRelayDown: boolean;
}

const minute = 60_000;
const hour = 60 * minute;
/** Longer than the backoff of the relay and the server after a single failure. */
const settleMilliseconds = 10 * minute;

/** Phones of both generations at our server and at a stock server. Both servers use our relay. */
export class Fleet {
  readonly world: StockWorld;
  readonly stock: StockServer;
  readonly users: readonly FleetUser[];
  /** Tokens of deliveries that no account on the phone can decrypt, such as deliveries after a logout. */
  readonly afterLogout: string[] = [];
  /** Number of phones that had to log in again because a stock server had exhausted its retries for them. */
  freed = 0;
  /** Number of notifications in the relay's queue for an account at the moment of its logout. */
  queuedAtLogout = 0;
  readonly #random: () => number;
  readonly #expected: Expected[] = [];
  readonly #dead: object[] = [];
  #isDownFor: StockPhone | undefined;
  /**
   * Phones that logged out during an outage. The relay keeps sending queued notifications to them until our server
   * reaches it.
   */
  readonly #leftInOutage = new Set<StockPhone>();

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

  get accounts(): FleetAccount[] {
    return this.users.flatMap(({ accounts }) => accounts);
  }

  async signIn(account: FleetAccount): Promise<void> {
    await account.app.signIn();
    account.isSignedIn = true;
  }

  async logOut(account: FleetAccount): Promise<void> {
    await account.app.logOut();
    account.isSignedIn = false;
    account.epoch += 1;
    if (!this.world.isRelayRunning) this.#leftInOutage.add(account.app.phone);
  }

  /** Replaces a phone's token at the vendor, which no longer delivers to the old token. */
  async changeToken({ phone }: FleetAccount['app']): Promise<void> {
    const { token, kind } = phone;
    const refusal =
      kind === 'fcm' ? { status: 404, reason: 'UNREGISTERED' } : { status: 410, reason: 'Unregistered' };
    this.#dead.push({ vendor: kind, token, ...refusal });
    await this.#setFaults();
    phone.token = newToken(kind);
    for (const account of this.#accountsOn(phone)) {
      account.epoch += 1;
      if (account.isSignedIn) await account.app.start();
    }
  }

  /** Simulates some hours of use with messages, new tokens, new keys and logouts. */
  async use(hours: number): Promise<void> {
    this.world.time.ahead += hours * hour;
    for (let action = 0; action < 3; action += 1) await this.#useOne(this.#pick(this.accounts));
    await this.#setFaults(this.#pick(this.accounts));
    for (let message = 0; message < 3; message += 1) await this.notify(this.#pick(this.users));
  }

  async notify(user: FleetUser): Promise<void> {
    const { isRelayRunning } = this.world;
    const messageId = await user.notify();
    for (const account of user.accounts) {
      const { app, epoch, isSignedIn, server } = account;
      // A stock server does not retry if it cannot send a notification.
      const isSent = isSignedIn && app.isSettled && (server === 'ours' || isRelayRunning);
      if (isSent) this.#expected.push({ account, messageId, epoch });
    }
  }

  /** Stops the relay while messages are in flight, and replaces the token of one of the stock server's phones. */
  async beginOutage(): Promise<void> {
    const ours = this.users.filter(({ accounts }) => accounts[0]?.server === 'ours');
    await Promise.all([this.world.stopRelay(), this.notify(this.#pick(ours)), this.notify(this.#pick(ours))]);
    const atStock = this.accounts.filter(({ server, isSignedIn }) => server === 'stock' && isSignedIn);
    await this.changeToken(this.#pick(atStock).app);
  }

  /** Starts the relay, and lets the servers send their queued requests. */
  async endOutage(): Promise<void> {
    await this.world.startRelay();
    await this.settle();
    for (const account of this.accounts) {
      if (account.server !== 'stock' || !account.isSignedIn || !account.app.isPending) continue;
      this.freed += 1;
      await this.logOut(account);
      await this.signIn(account);
    }
  }

  /**
   * Logs one of a phone's two accounts at our server out, and possibly back in. Meanwhile, the vendor is down for this
   * phone, and the relay has queued notifications for both accounts. `isRelayDown`: whether the relay is down during
   * the logout.
   */
  async logOutWhileQueued({ isOlder, isRelayDown }: LogoutWhileQueued): Promise<void> {
    const { world } = this;
    const [leaving, staying] = this.#sharing(isOlder);
    for (const account of [leaving, staying]) if (!account.isSignedIn) await this.signIn(account);
    await this.settle();
    this.#isDownFor = leaving.app.phone;
    await this.#setFaults();
    for (const { user } of [leaving, staying]) await this.notify(user);
    await world.idle();
    this.queuedAtLogout += await world.relay.context.deliveries.receipts.countQueued();
    if (isRelayDown) await world.stopRelay();
    await this.logOut(leaving);
    await world.idle();
    if (this.#random() < 0.5) await this.signIn(leaving);
    if (isRelayDown) await world.startRelay();
    // The relay may be down for a second time. The server retries within an hour.
    world.time.ahead += hour;
    await world.idle();
    await this.#forgetReportedLogouts();
    this.#isDownFor = undefined;
    await this.#setFaults();
    // Longer than the relay's delay before it retries a notification that the vendor refused.
    for (let hours = 0; hours < 3; hours += 1) {
      world.time.ahead += hour;
      await this.settle();
    }
  }

  /** Makes a different bouncer key primary, optionally revokes the previous one, and restarts the relay. */
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

  /**
   * Lets servers and relay complete their work, and phones receive their deliveries. Updates the app on each phone
   * whose key was refused.
   */
  async settle(): Promise<void> {
    for (const pause of [0, settleMilliseconds]) {
      this.world.time.ahead += pause;
      await this.stock.work();
      await this.world.idle();
      await this.#receive();
    }
    for (const { app, isSignedIn } of this.accounts) {
      if (!isSignedIn) continue;
      await app.look();
      if (!app.isFailed) continue;
      app.phone.bouncerPublicKey = await this.world.bouncerPublicKey();
      await app.start();
    }
  }

  /** Messages that did not arrive although the phone kept its token, and messages that were shown twice. */
  unfulfilled(): { readonly lost: string[]; readonly twice: string[]; readonly expected: number } {
    const name = ({ app }: FleetAccount, messageId: number) => `${app.phone.token} ${messageId}`;
    const lost = this.#expected
      .filter(({ account, epoch }) => account.epoch === epoch)
      .filter(({ account, messageId }) => !account.app.shown.has(messageId))
      .map(({ account, messageId }) => name(account, messageId));
    const twice = this.accounts.flatMap((account) =>
      [...account.app.shown].filter(([, times]) => times > 1).map(([messageId]) => name(account, messageId)),
    );
    return { lost, twice, expected: this.#expected.length };
  }

  async #useOne(account: FleetAccount): Promise<void> {
    const chance = this.#random();
    if (!account.isSignedIn) return this.signIn(account);
    if (chance < 0.15) return this.logOut(account);
    if (chance < 0.5) return this.changeToken(account.app);
    if (chance < 0.8) account.app.rotateKey();
    await account.app.start();
  }

  /**
   * Receives deliveries. If no account on the phone can decrypt a delivery, the delivery must be for a logged-out
   * account.
   */
  async #receive(): Promise<void> {
    for (const { token, body } of await this.world.takeDeliveries()) {
      const accounts = this.accounts.filter(({ app, isSignedIn }) => isSignedIn && app.phone.token === token);
      const isOpened = accounts.filter(({ app }) => app.receive(body)).length > 0;
      const isExcused = [...this.#leftInOutage].some((phone) => phone.token === token);
      if (!isOpened && !isExcused) this.afterLogout.push(token);
    }
    await this.#forgetReportedLogouts();
  }

  /**
   * Clears the set of logouts during outages once our server has requested all removals, because the relay then knows
   * of every logout.
   */
  async #forgetReportedLogouts(): Promise<void> {
    if (!this.world.isRelayRunning || this.#leftInOutage.size === 0) return;
    const waiting = await this.world.server.database.jobs.list({ state: 'waiting', limit: 1000 });
    if (!waiting.some(({ kind }) => removalKinds.includes(kind))) this.#leftInOutage.clear();
  }

  /** Sets the vendors' faults: dead tokens, an outage for one phone, and a single 503 response for `busy`. */
  async #setFaults(busy?: FleetAccount): Promise<void> {
    const once = busy === undefined ? [] : [{ ...unavailable(busy.app.phone), times: 1 }];
    const down = this.#isDownFor === undefined ? [] : [unavailable(this.#isDownFor)];
    await this.world.setFaults([...down, ...once, ...this.#dead]);
  }

  /** The two accounts on a phone that is shared by users of our server. */
  #sharing(isOlder: boolean): readonly [FleetAccount, FleetAccount] {
    for (const { app, server } of this.accounts) {
      const [one, other] = this.#accountsOn(app.phone);
      if (
        server !== 'ours' ||
        app instanceof OlderApp !== isOlder ||
        one === undefined ||
        other === undefined
      )
        continue;
      return this.#random() < 0.5 ? [one, other] : [other, one];
    }
    throw new RangeError('no phone is shared');
  }

  #accountsOn(phone: StockPhone): FleetAccount[] {
    return this.accounts.filter(({ app }) => app.phone === phone);
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.#random() * items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }
}

const removalKinds = [tokenRemoving.jobKind, relayDeviceRemoving.jobKind];

function unavailable({ kind: vendor, token }: StockPhone): object {
  return { vendor, token, status: 503, reason: vendor === 'fcm' ? 'UNAVAILABLE' : 'ServiceUnavailable' };
}

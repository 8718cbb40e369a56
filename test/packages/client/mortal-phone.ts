import {
  createPushClient,
  createTextStores,
  type Fetch,
  type Registrar,
  type RegistrationStatus,
} from '@waxwing/client';
import { loadWasmSodium } from '@waxwing/sodium';
import { seal } from '../../support/noble-oracle.js';
import { FakeChatServer, fromBase64, type OpenedRegistration, toBase64 } from './fake-chat-server.js';
import { modelTokenId } from './model-client-devices.js';
import { TextsInMemory } from './texts-in-memory.js';
import { messageOf } from './upgraded-phone.js';

export const day = 86_400_000;
const vendorsKeepMilliseconds = 30 * day;
const sodium = await loadWasmSodium();

/** One run of the app. Once no steps are left, the app is killed, and its remaining work never happens. */
interface Life {
  stepsLeft: number;
  steps: number;
}

const immortal = (): Life => ({ stepsLeft: Number.POSITIVE_INFINITY, steps: 0 });

/** A push on its way to the phone. */
interface InFlight {
  readonly data: Record<string, string>;
  readonly messageId: number;
  readonly token: string;
  readonly sentAt: number;
  readonly generation: 'older' | 'newer';
}

/**
 * A phone whose app can be killed before any step, together with a model server. The phone's storage survives the app.
 */
export class MortalPhone {
  readonly server = new FakeChatServer();
  readonly storage = new TextsInMemory();
  readonly bouncerPublicKey = this.server.addBouncerKey(1);
  token = 'token-0';
  /** Whether requests fail. */
  isOffline = false;
  inFlight: InFlight[] = [];
  /** How often each message was shown. */
  readonly shown = new Map<number, number>();
  /** Messages that must be shown once they are delivered. */
  readonly owed = new Set<number>();
  /** Whether the last sync reported that notifications are on, and no later event requires another sync. */
  isCovered = false;
  #messageId = 0;
  #restore = () => {};
  /** Number of steps of the app's last run. */
  steps = 0;

  constructor() {
    const { server } = this;
    const decide = server.decide.bind(server);
    // If several accounts have the same token, the server keeps only the latest registration.
    server.decide = (id, errorCode) => {
      decide(id, errorCode);
      const tokenOf = (account: string) =>
        server.registrations.findLast(({ pushAccountId }) => pushAccountId === account)?.registration.token;
      const others = [...server.devices.keys()].filter(
        (other) => other !== id && tokenOf(other) === tokenOf(id),
      );
      if (errorCode === null) for (const other of others) server.devices.delete(other);
    };
  }

  /** Runs `sync` in a newly started app that is killed before step number `steps`, if it gets that far. */
  async sync(steps = Number.POSITIVE_INFINITY): Promise<RegistrationStatus | 'ended'> {
    const status = await this.#live(steps, (registrar) =>
      registrar.sync({ settleTimeoutMilliseconds: 60_000 }),
    );
    if (status !== 'ended' && status.code === 'active') this.isCovered = true;
    return status;
  }

  async forget(steps = Number.POSITIVE_INFINITY): Promise<void> {
    this.isCovered = false;
    this.owed.clear();
    // A server that is restored to a state before a sign-out keeps notifying the phone. A client cannot prevent that.
    this.#restore = () => {};
    await this.#live(steps, (registrar) => registrar.forget());
  }

  /** Makes the server send a message to every device of the user. */
  notify(): void {
    this.#messageId += 1;
    const messageId = this.#messageId;
    const plaintext = JSON.stringify(messageOf(messageId, this.server.url));
    const sentAt = this.server.now;
    for (const [id, { status }] of this.server.devices) {
      const sent = this.#sentFor(id);
      if (status !== 'active' || sent === undefined) continue;
      const ephemeral = new Uint8Array(32).fill(1 + (messageId % 250));
      const sealed = seal(new TextEncoder().encode(plaintext), fromBase64(sent.pushPublicKey), ephemeral);
      const data = { push_account_id: id, encrypted_data: toBase64(sealed) };
      const token = modelTokenId(String(sent.registration.token));
      this.inFlight.push({ data, messageId, token, sentAt, generation: 'older' });
    }
    for (const row of this.server.clientDevices.rows.values()) {
      if (row.push_token_id === null || this.server.featureLevel < 468) continue;
      const data = this.server.clientDevices.sealFor(row, plaintext, sodium.randomBytes(24));
      this.inFlight.push({ data, messageId, token: row.push_token_id, sentAt, generation: 'newer' });
    }
    if (this.isCovered) this.owed.add(messageId);
  }

  /** Delivers pending pushes, newest first: vendors guarantee no order. */
  async deliver(): Promise<void> {
    const client = await this.#client(immortal());
    const pushes = this.inFlight.splice(0).reverse();
    for (const { data, messageId, token, sentAt } of pushes) {
      const isKept = this.server.now - sentAt < vendorsKeepMilliseconds;
      if (!isKept || token !== modelTokenId(this.token)) this.owed.delete(messageId);
      else if ((await client.open(data)).kind === 'notification') {
        this.shown.set(messageId, (this.shown.get(messageId) ?? 0) + 1);
      }
    }
  }

  /**
   * Returns a description of how the shown messages differ from the expected messages, or `undefined` if they match.
   */
  complaint(): string | undefined {
    for (const [id, times] of this.shown) if (times > 1) return `message ${id} was shown ${times} times`;
    if (this.inFlight.length > 0) return undefined;
    const lost = [...this.owed].filter((id) => !this.shown.has(id));
    return lost.length > 0 ? `messages ${lost} were lost` : undefined;
  }

  bringRelayUp(): void {
    const { clientDevices, devices } = this.server;
    this.server.relayIsUp = true;
    clientDevices.runJobs();
    for (const [id, { status }] of devices) if (status === 'pending') this.server.decide(id, null);
  }

  /** Reports the token as dead, so that the server clears it. */
  loseToken(): void {
    this.isCovered = false;
    this.server.clientDevices.clearToken(this.server.userId, modelTokenId(this.token));
  }

  backUpServer(): void {
    const { clientDevices, devices } = this.server;
    const copyOf = <Row extends object>(rows: ReadonlyMap<number | string, Row>) =>
      [...rows].map(([id, row]) => [id, { ...row }] as const);
    const backup = {
      nextId: clientDevices.nextId,
      rows: copyOf(clientDevices.rows),
      devices: copyOf(devices),
    };
    this.#restore = () => {
      clientDevices.nextId = backup.nextId;
      clientDevices.jobs = [];
      clientDevices.rows.clear();
      for (const [id, row] of backup.rows) clientDevices.rows.set(Number(id), { ...row });
      devices.clear();
      for (const [id, row] of backup.devices) devices.set(String(id), { ...row });
    };
  }

  restoreServer(): void {
    this.isCovered = false;
    this.#restore();
  }

  /** Number of push keys in the phone's storage. */
  storedKeys(): number {
    return (this.storage.texts.get('waxwing.accounts') ?? '').split('"pushKeyId"').length - 1;
  }

  /** Number of devices of either generation that would notify this phone. */
  devicesWithToken(): number {
    const { server, token } = this;
    // After an account was signed out and dropped, the phone cannot recognize its registration.
    const isStored = (id: string) => this.storage.texts.get('waxwing.accounts')?.includes(`"${id}"`) ?? false;
    const older = [...server.devices.keys()].filter((id) => isStored(id) && this.#olderToken(id) === token);
    const rows = server.featureLevel < 468 ? [] : [...server.clientDevices.rows.values()];
    const newer = rows.filter(({ push_token_id: id }) => id === modelTokenId(token));
    return older.length + newer.length;
  }

  #olderToken(id: string): unknown {
    return this.#sentFor(id)?.registration.token;
  }

  #sentFor(id: string): OpenedRegistration | undefined {
    return this.server.registrations.findLast(({ pushAccountId }) => pushAccountId === id);
  }

  async #live<Result>(
    steps: number,
    task: (registrar: Registrar) => Promise<Result>,
  ): Promise<Result | 'ended'> {
    const life: Life = { stepsLeft: steps, steps: 0 };
    const { url: realmUrl, userId, email, apiKey } = this.server;
    const registrar = (await this.#client(life)).registrar({ realmUrl, userId, email, apiKey });
    try {
      const result = await task(registrar);
      return life.stepsLeft <= 0 ? 'ended' : result;
    } catch (error) {
      if (life.stepsLeft <= 0) return 'ended';
      throw error;
    } finally {
      this.steps = life.steps;
    }
  }

  /** Starts the app again. */
  async #client(life: Life) {
    const texts = this.storage;
    const afterStep = <Result>(task: () => Result): Result => {
      life.steps += 1;
      life.stepsLeft -= 1;
      if (life.stepsLeft <= 0) throw new Error('The app has ended.');
      return task();
    };
    const { keyList: _keyList, ...stores } = createTextStores({
      getItem: (name) => afterStep(() => texts.getItem(name)),
      setItem: (name, text) => afterStep(() => texts.setItem(name, text)),
      removeItem: (name) => afterStep(() => texts.removeItem(name)),
    });
    const fetch: Fetch = async (url, init) => {
      if (this.isOffline) throw new TypeError('fetch failed');
      const answer = await afterStep(() => this.server.fetch(url, init));
      // The app may also be killed here, after the server has acted but before the app reads the response.
      return afterStep(() => answer);
    };
    return createPushClient({
      ...stores,
      sodium,
      fetch,
      bouncerPublicKey: this.bouncerPublicKey,
      clock: () => this.server.now,
      pushToken: () => ({ tokenKind: 'fcm', token: this.token }),
    });
  }
}

import { newPushKey, openNotification, type PushKey, readDelivered, type StockPhone } from './stock-phone.js';

type Fields = Readonly<Record<string, string>>;

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends a chat API request. `authorization` is `undefined` before the sign-in. */
export type AskServer = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  fields: Fields,
  authorization: string | undefined,
) => Promise<Answer>;

/** A device in `devices` in the response to `POST /register`. Events change its fields. */
interface KnownDevice {
  push_key_id?: number | null;
  push_token_id?: string | null;
  pending_push_token_id?: string | null;
  push_token_last_updated_timestamp?: number | null;
  push_registration_error_code?: string | null;
}

interface DeviceEvent {
  readonly id: number;
  readonly type: string;
  readonly op?: 'add' | 'remove' | 'update';
  readonly device_id?: number;
}

export interface StockAppOptions {
  readonly ask: AskServer;
  readonly phone: StockPhone;
  readonly realmUrl: string;
}

const day = 86_400_000;
const rotationMilliseconds = 30 * day;
const supersededAfterMilliseconds = 15 * day;
const keptMilliseconds = 30 * day;
const encryptedFromLevel = 468;
const removesDevicesFromLevel = 470;

/**
 * One account in an app that behaves like the stock mobile app. It registers at the same times with the same fields,
 * and shows the same notifications.
 */
export class StockApp {
  readonly phone: StockPhone;
  /** Id of the server's row for this account. Survives restarts of the app. */
  deviceId: number | undefined;
  keys: PushKey[] = [];
  devices: Record<string, KnownDevice> = {};
  level = 0;
  userId = 0;
  /** Number of times that each message was shown, by message id. */
  readonly shown = new Map<number, number>();
  /** The names of the fields in each registration, in order. */
  readonly sent: string[][] = [];
  /** Refusals by the server, which the app ignores. */
  readonly refusals: string[] = [];
  tests = 0;
  readonly #options: StockAppOptions;
  #authorization: string | undefined;
  #queueId = '';
  #lastEventId = -1;
  #hasPlainToken = false;

  constructor(options: StockAppOptions) {
    this.#options = options;
    this.phone = options.phone;
  }

  get isPending(): boolean {
    return this.device?.pending_push_token_id != null && !this.isFailed;
  }

  get isFailed(): boolean {
    return this.device?.push_registration_error_code != null;
  }

  /** Whether the server sends notifications to the current token with the current key. */
  get isSettled(): boolean {
    const { push_token_id: tokenId, push_key_id: keyId } = this.device ?? {};
    return (
      tokenId === this.phone.tokenId && keyId === this.keys.at(-1)?.id && !this.isPending && !this.isFailed
    );
  }

  get device(): KnownDevice | undefined {
    return this.deviceId === undefined ? undefined : this.devices[this.deviceId];
  }

  async signIn(username: string, password: string): Promise<void> {
    const settings = await this.#must('GET', 'server_settings');
    this.level = Number(settings.zulip_feature_level);
    const { api_key: apiKey, user_id: userId } = await this.#must('POST', 'fetch_api_key', {
      username,
      password,
    });
    this.userId = Number(userId);
    this.#authorization = `Basic ${Buffer.from(`${username}:${apiKey}`).toString('base64')}`;
  }

  /** Opens the app. The app requests a new event queue, and registers if necessary. */
  async start(): Promise<void> {
    const types = JSON.stringify(['device', 'message', 'realm']);
    const state = await this.#must('POST', 'register', { event_types: types, fetch_event_types: types });
    this.#queueId = String(state.queue_id);
    this.#lastEventId = Number(state.last_event_id);
    this.devices = structuredClone(state.devices ?? {}) as Record<string, KnownDevice>;
    await this.#register();
  }

  /** Reads new events. Opens the app again if the queue has expired. */
  async poll(): Promise<void> {
    const query = { queue_id: this.#queueId, last_event_id: String(this.#lastEventId), dont_block: 'true' };
    const { body } = await this.#options.ask('GET', 'events', query, this.#authorization);
    if (body.code === 'BAD_EVENT_QUEUE_ID') return this.start();
    for (const event of body.events as DeviceEvent[]) {
      this.#lastEventId = event.id;
      if (event.type === 'device') this.#apply(event);
    }
  }

  /** Handles a new token from the vendor, as the app does. */
  async changeToken(token: string): Promise<void> {
    this.phone.token = token;
    await this.#register();
  }

  /** Ages the newest key, so that the next start of the app replaces it. */
  ageKey(): void {
    const newest = this.keys.pop();
    if (newest !== undefined)
      this.keys.push({ ...newest, createdAt: newest.createdAt - rotationMilliseconds });
  }

  async logOut(): Promise<void> {
    if (this.deviceId !== undefined && this.level >= removesDevicesFromLevel) {
      await this.#try('POST', 'remove_client_device', { device_id: String(this.deviceId) });
    }
    if (this.#hasPlainToken) await this.#try('DELETE', this.#plainPath, { token: this.phone.token });
    this.keys = [];
    this.devices = {};
    this.deviceId = undefined;
    this.#authorization = undefined;
  }

  /** Handles a delivered notification as the app does. Returns what the app did. */
  receive(body: Readonly<Record<string, unknown>>): 'shown' | 'removed' | 'test' | 'dropped' {
    const read = readDelivered(body);
    const key = this.keys.find(({ id }) => id === read?.keyId);
    if (read === undefined || key === undefined) return 'dropped';
    const notification = openNotification(read.encrypted, key);
    const isOurs = new URL(String(notification?.realm_url)).origin === new URL(this.#options.realmUrl).origin;
    if (!isOurs || notification?.user_id !== this.userId) return 'dropped';
    if (notification.type === 'test') {
      this.tests += 1;
      return 'test';
    }
    if (notification.type === 'remove') return 'removed';
    const id = Number(notification.message_id);
    this.shown.set(id, (this.shown.get(id) ?? 0) + 1);
    return 'shown';
  }

  /** Sends what the server lacks: the key, the token, or both. */
  async #register(): Promise<void> {
    if (this.level < encryptedFromLevel) return this.#registerPlain();
    if (this.deviceId === undefined) {
      const { device_id: deviceId } = await this.#must('POST', 'register_client_device');
      this.deviceId = Number(deviceId);
    }
    this.#renewKeys();
    const newest = this.keys.at(-1);
    if (newest === undefined) throw new TypeError('the app has no key');
    const fields = {
      ...(this.device?.push_key_id !== newest.id && {
        push_key_id: String(newest.id),
        push_key: newest.bytes.toString('base64'),
      }),
      ...(this.#needsToken() && this.phone.tokenGroup()),
    };
    if (Object.keys(fields).length === 0) return;
    const all = { device_id: String(this.deviceId), ...fields };
    this.sent.push(Object.keys(all));
    await this.#try('POST', 'mobile_push/register', all);
  }

  #needsToken(): boolean {
    const { push_registration_error_code: code, push_token_id: current, ...rest } = this.device ?? {};
    const { pending_push_token_id: pending, push_token_last_updated_timestamp: updatedAt } = rest;
    if (code != null || (pending ?? current) !== this.phone.tokenId || updatedAt == null) return true;
    return this.phone.clock() - updatedAt * 1000 >= rotationMilliseconds;
  }

  /** Creates a new key if the newest is 30 days old. Keeps a superseded key as long as vendors store notifications. */
  #renewKeys(): void {
    const now = this.phone.clock();
    const newest = this.keys.at(-1);
    if (newest === undefined || now - newest.createdAt >= rotationMilliseconds)
      this.keys.push(newPushKey(now));
    const last = this.keys.at(-1);
    const isLastInUse =
      this.device?.push_key_id === last?.id || now - (last?.createdAt ?? now) >= supersededAfterMilliseconds;
    for (const key of this.keys.slice(0, -1)) if (isLastInUse) key.supersededAt ??= now;
    this.keys = this.keys.filter(({ supersededAt }) => now - (supersededAt ?? now) < keptMilliseconds);
  }

  get #plainPath(): string {
    return this.phone.kind === 'apns' ? 'users/me/apns_device_token' : 'users/me/android_gcm_reg_id';
  }

  async #registerPlain(): Promise<void> {
    this.keys = [];
    this.#hasPlainToken = true;
    const appId = this.phone.kind === 'apns' ? { appid: 'org.example.Stock' } : {};
    await this.#try('POST', this.#plainPath, { token: this.phone.token, ...appId });
  }

  #apply({ op, device_id: deviceId, type: _type, id: _id, ...changes }: DeviceEvent): void {
    const name = String(deviceId);
    if (op === 'add') this.devices[name] = {};
    if (op === 'remove') delete this.devices[name];
    // A field that is null in the event becomes null. An absent field keeps its value.
    if (op === 'update') this.devices[name] = { ...this.devices[name], ...changes };
  }

  async #must(method: 'GET' | 'POST', path: string, fields: Fields = {}) {
    const { status, body } = await this.#options.ask(method, path, fields, this.#authorization);
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Sends a request. After a failure, the app retries at its next start or when the token changes. */
  async #try(method: 'POST' | 'DELETE', path: string, fields: Fields): Promise<void> {
    const { status, body } = await this.#options.ask(method, path, fields, this.#authorization);
    if (status !== 200) this.refusals.push(String(body.msg));
  }
}

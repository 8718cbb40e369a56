import type { Fetch } from '@waxwing/client';
import { openSealed, publicKeyOf, seal } from '../../support/noble-oracle.js';
import { ModelClientDevices, Refusal } from './model-client-devices.js';

/** A registration that the fake relay decrypted. */
export interface OpenedRegistration {
  readonly pushAccountId: string;
  readonly pushPublicKey: string;
  readonly bouncerPublicKey: string;
  readonly sealedBytes: number;
  readonly registration: Record<string, unknown>;
}

export interface FakeDevice {
  status: 'pending' | 'active' | 'failed';
  error_code: string | null;
}

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly fields: ReadonlyMap<string, string>;
  readonly authorization: string | undefined;
}

/**
 * Fake chat server with a built-in relay, used through `fetch`. Implements just enough of the chat API for a phone. The
 * oracle opens sealed boxes, never the code under test. Runs in Node and in browsers.
 */
export class FakeChatServer {
  readonly url = 'https://chat.example.com';
  readonly email = 'hamlet@example.com';
  readonly apiKey = 'key with spaces, ünicode & signs';
  readonly userId = 10;
  /** Users by email address; all of them have the same API key. */
  readonly users = new Map([
    [this.email, this.userId],
    ['ophelia@example.com', 11],
  ]);
  /** Whether `/register` returns the user's id. */
  tellsUserId = true;
  /** The realm URL that the organization announces. */
  realmUrl: string | undefined = this.url;
  realmUuid: string | undefined = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';
  /** Whether `/register` returns the server's feature level. */
  tellsFeatureLevel = true;
  /** The announced feature level. From 468 on, the server also has devices of the newer generation. */
  featureLevel = 431;
  /** The relay's keys for registrations: base64 public key -> private key. */
  readonly bouncerKeys = new Map<string, Uint8Array>();
  readonly devices = new Map<string, FakeDevice>();
  /** The devices of the newer generation. */
  readonly clientDevices = new ModelClientDevices({
    now: () => this.now,
    bouncerKeys: this.bouncerKeys,
    emit: (event) => this.#emit(event),
    verdictOn: (opened) =>
      this.verdictOn({ ...opened, pushAccountId: '', pushPublicKey: '', sealedBytes: 0 }),
  });
  readonly registrations: OpenedRegistration[] = [];
  readonly requests: FakeRequest[] = [];
  /** Revocations that the relay decrypted, with their JSON and whether the phone sent them directly to the relay. */
  readonly revocations: { readonly isDirect: boolean; readonly fields: Record<string, unknown> }[] = [];
  /** Unix milliseconds of the server's clock. */
  now = Date.UTC(2026, 10, 20, 12);
  /** How far the time in responses is ahead of `now`, in milliseconds. */
  claimedLateness = 0;
  /** Whether the relay decides on registrations immediately. Otherwise they stay pending until `decide` is called. */
  relayIsUp = true;
  /** Overrides for operations, by path. An override may return `undefined` to use the normal operation. */
  readonly overrides = new Map<string, () => Response | undefined | Promise<Response>>();
  /** Response to `GET /mobile_push/bouncer_keys`; none by default. */
  keyList: Record<string, unknown> | undefined;
  #events: Record<string, unknown>[] = [];
  #lastEventId = -1;

  /** Adds a bouncer key pair with a private key of one repeated byte. Returns the public key in base64. */
  addBouncerKey(privateByte: number): string {
    const privateKey = new Uint8Array(32).fill(privateByte);
    const publicKey = toBase64(publicKeyOf(privateKey));
    this.bouncerKeys.set(publicKey, privateKey);
    return publicKey;
  }

  readonly fetch: Fetch = async (url, init) => {
    const { pathname, searchParams } = new URL(url);
    const fields = new Map(init.method === 'GET' ? searchParams : new URLSearchParams(String(init.body)));
    const authorization = new Headers(init.headers).get('authorization') ?? undefined;
    this.requests.push({ method: init.method ?? 'GET', path: pathname, fields, authorization });
    init.signal?.throwIfAborted();
    const overridden = await this.overrides.get(pathname)?.();
    if (overridden !== undefined) return overridden;
    if (pathname === '/api/v1/mobile_push/bouncer_keys') {
      return this.keyList === undefined ? this.error('NOT_FOUND', 404) : this.answer(this.keyList);
    }
    if (pathname === '/api/v1/remotes/push/e2ee/revoke') return this.#revoke(fields, true);
    const user = [...this.users].find(
      ([email]) => authorization === `Basic ${toBase64(new TextEncoder().encode(`${email}:${this.apiKey}`))}`,
    );
    if (user === undefined) return this.error('INVALID_API_KEY', 401);
    return this.#operate(`${init.method} ${pathname}`, fields, user[1]);
  };

  answer(fields: Record<string, unknown>, init: ResponseInit = {}): Response {
    const headers = {
      date: new Date(this.now + this.claimedLateness).toUTCString(),
      ...Object(init.headers),
    };
    return new Response(JSON.stringify({ result: 'success', msg: '', ...fields }), { ...init, headers });
  }

  error(code: string, status = 400, fields: Record<string, unknown> = {}, headers = {}): Response {
    return this.answer({ result: 'error', msg: `refused: ${code}`, code, ...fields }, { status, headers });
  }

  /** Returns the relay's verdict on a registration: an error code, or `null` if the relay accepts the registration. */
  verdictOn({ bouncerPublicKey, registration }: OpenedRegistration): string | null {
    if (!this.bouncerKeys.has(bouncerPublicKey)) return 'INVALID_BOUNCER_PUBLIC_KEY';
    const age = Math.floor(this.now / 1000) - Number(registration.timestamp);
    return age > 86_400 ? 'REQUEST_EXPIRED' : null;
  }

  /** Ends a device's pending state, as the relay's response does. */
  decide(pushAccountId: string, errorCode: string | null): void {
    const status = errorCode === null ? 'active' : 'failed';
    this.devices.set(pushAccountId, { status, error_code: errorCode });
    const event = { type: 'push_device', push_account_id: pushAccountId, status };
    this.#emit(errorCode === null ? event : { ...event, error_code: errorCode });
  }

  /** Returns a push as FCM delivers it to the app, sealed by the oracle to the last registration's public key. */
  pushTo(notification: Record<string, unknown> | string, ephemeralByte = 7) {
    const { pushAccountId, pushPublicKey } = this.lastRegistration;
    const plaintext = new TextEncoder().encode(
      typeof notification === 'string' ? notification : JSON.stringify(notification),
    );
    const sealed = seal(plaintext, fromBase64(pushPublicKey), new Uint8Array(32).fill(ephemeralByte));
    return { push_account_id: pushAccountId, encrypted_data: toBase64(sealed) };
  }

  get lastRegistration(): OpenedRegistration {
    const last = this.registrations.at(-1);
    if (last === undefined) throw new Error('No registration has arrived yet.');
    return last;
  }

  requestsTo(path: string): readonly FakeRequest[] {
    return this.requests.filter((request) => request.path === `/api/v1/${path}`);
  }

  #operate(operation: string, fields: ReadonlyMap<string, string>, userId: number): Response {
    switch (operation) {
      case 'POST /api/v1/register':
        return this.answer({
          queue_id: 'queue 1',
          last_event_id: this.#lastEventId,
          ...(this.tellsUserId ? { user_id: userId } : {}),
          realm_url: this.realmUrl,
          realm_uuid: this.realmUuid,
          ...(this.tellsFeatureLevel ? { zulip_feature_level: this.featureLevel } : {}),
          push_devices: Object.fromEntries(this.devices),
          ...(this.featureLevel < 468 ? {} : { devices: this.clientDevices.stateOf(userId) }),
        });
      case 'GET /api/v1/users/me':
        return this.answer({ user_id: userId });
      case 'GET /api/v1/events':
        return this.#pollEvents(Number(fields.get('last_event_id')));
      case 'DELETE /api/v1/events':
      case 'POST /api/v1/mobile_push/e2ee/test_notification':
        return this.answer({});
      case 'DELETE /api/v1/mobile_push/register':
        this.devices.delete(fields.get('push_account_id') ?? '');
        return this.answer({});
      case 'POST /api/v1/mobile_push/revoke':
        return this.#revoke(fields, false);
      case 'POST /api/v1/mobile_push/register':
        if (!fields.has('device_id')) return this.#registerPushDevice(fields);
    }
    return this.#operateDevices(operation, fields, userId);
  }

  #operateDevices(operation: string, fields: ReadonlyMap<string, string>, userId: number): Response {
    const answers = new Map([
      ['register_client_device', () => ({ device_id: this.clientDevices.create(userId) })],
      ['mobile_push/register', () => this.clientDevices.register(userId, fields)],
      ...(this.featureLevel < 470
        ? []
        : ([
            [
              'remove_client_device',
              () => this.clientDevices.remove(userId, Number(fields.get('device_id'))),
            ],
          ] as const)),
    ]);
    const answer = answers.get(operation.replace('POST /api/v1/', ''));
    if (this.featureLevel < 468 || answer === undefined) return this.error('NOT_FOUND', 404);
    try {
      const fields = answer() ?? {};
      if (this.relayIsUp) this.clientDevices.runJobs();
      return this.answer(fields);
    } catch (error) {
      if (error instanceof Refusal) return this.error(error.code, 400, { msg: error.message });
      throw error;
    }
  }

  #pollEvents(lastEventId: number): Response {
    const events = this.#events.filter((event) => Number(event.id) > lastEventId);
    if (events.length === 0) {
      // Advances the test's clock by the duration of a long poll instead of waiting.
      this.now += 45_000;
      this.#emit({ type: 'heartbeat' });
      return this.#pollEvents(lastEventId);
    }
    return this.answer({ events });
  }

  #registerPushDevice(fields: ReadonlyMap<string, string>): Response {
    const field = (name: string) => fields.get(name) ?? '';
    const sealed = fromBase64(field('encrypted_push_registration'));
    const bouncerPublicKey = field('bouncer_public_key');
    const privateKey = this.bouncerKeys.get(bouncerPublicKey);
    const plaintext = privateKey && openSealed(sealed, fromBase64(bouncerPublicKey), privateKey);
    const opened: OpenedRegistration = {
      pushAccountId: field('push_account_id'),
      pushPublicKey: field('push_public_key'),
      bouncerPublicKey,
      sealedBytes: sealed.length,
      registration: plaintext === undefined ? {} : JSON.parse(new TextDecoder().decode(plaintext)),
    };
    this.registrations.push(opened);
    if (this.relayIsUp) this.decide(opened.pushAccountId, this.verdictOn(opened));
    else this.devices.set(opened.pushAccountId, { status: 'pending', error_code: null });
    return this.answer({});
  }

  #revoke(fields: ReadonlyMap<string, string>, isDirect: boolean): Response {
    const publicKey = fields.get('bouncer_public_key') ?? '';
    const privateKey = this.bouncerKeys.get(publicKey);
    const sealed = fromBase64(fields.get('encrypted_push_revocation') ?? '');
    const plaintext = privateKey && openSealed(sealed, fromBase64(publicKey), privateKey);
    if (plaintext === undefined) return this.error('INVALID_BOUNCER_PUBLIC_KEY');
    this.revocations.push({ isDirect, fields: JSON.parse(new TextDecoder().decode(plaintext)) });
    return this.answer({});
  }

  #emit(event: Record<string, unknown>): void {
    this.#lastEventId += 1;
    this.#events.push({ ...event, id: this.#lastEventId });
  }
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

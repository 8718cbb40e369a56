import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openSealed, publicKeyOf } from '../../support/noble-oracle.js';
import {
  type Answer,
  knownServer,
  refusal,
  StockRelayServers,
  serverError,
  success,
} from './stock-relay-servers.js';
import type { VendorDelivery } from './stock-world.js';

/** A request that the relay received, and the status of the response. */
export interface StockRelayRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly status: number;
}

interface Registration {
  readonly token: string;
  readonly token_kind: 'fcm' | 'apns';
  readonly timestamp: number;
  readonly ios_app_id?: string | null;
}

interface Row extends Registration {
  isExpired: boolean;
}

interface PushRequest {
  readonly token_id: string;
  readonly fcm_priority?: string;
  readonly http_headers?: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

const livenessSeconds = 86_400;
/** The names of a registration's fields, sorted. */
export const registerFields = ['bouncer_public_key', 'encrypted_push_registration', 'realm_uuid', 'token_id'];
const djangoNotFound: Answer = { status: 404, body: '<!doctype html><h1>Not Found</h1>' };
const djangoNotAllowed: Answer = { status: 405, body: '<!doctype html><h1>Method Not Allowed</h1>' };

/**
 * The part of a stock Zulip 12 relay that servers use, with one known server. Supports only the newer generation.
 * Refuses notifications with fields that stock servers do not send, but ignores such fields in registrations. Fails
 * after delivery if a request names two live devices of one vendor.
 */
export class StockRelay {
  readonly requests: StockRelayRequest[] = [];
  readonly serverId = randomUUID();
  readonly serverKey = randomBytes(32).toString('hex');
  readonly bouncerPublicKey: string;
  /** Tokens that the vendor reports as dead. */
  readonly dead = new Set<string>();
  /** Vendors for which the relay has no credentials. The relay drops their notifications. */
  readonly withoutCredentials = new Set<'fcm' | 'apns'>();
  /** Number of upcoming notify requests that respond with 500 after delivery. */
  failuresAfterDelivery = 0;
  isDown = false;
  readonly servers: StockRelayServers;
  readonly #privateKey = randomBytes(32);
  readonly #rows = new Map<string, Row>();
  #deliveries: VendorDelivery[] = [];
  readonly #clock: () => number;
  readonly #http: Server;

  private constructor(clock: () => number) {
    this.#clock = clock;
    this.servers = new StockRelayServers(clock);
    this.servers.known.set(this.serverId, knownServer(this.serverKey));
    this.bouncerPublicKey = Buffer.from(publicKeyOf(this.#privateKey)).toString('base64');
    this.#http = createServer((request, response) => void this.#receive(request, response));
  }

  static async start(clock: () => number): Promise<StockRelay> {
    const relay = new StockRelay(clock);
    await new Promise<void>((resolve) => relay.#http.listen(0, '127.0.0.1', resolve));
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Adds a realm, as if the server had reported the realm. */
  addRealm(uuid: string): void {
    this.servers.realms.set(uuid, this.serverId);
  }

  /** Returns the notifications that vendors have accepted since the last call. */
  takeDeliveries(): VendorDelivery[] {
    return this.#deliveries.splice(0);
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url: path = '', headers } = request;
    const text = Buffer.concat(chunks).toString('utf8');
    const { status, body } = await this.#answer(method, path, headers, text);
    this.requests.push({ method, path, headers, body: text, status });
    const type = typeof body === 'string' ? 'text/html; charset=utf-8' : 'application/json';
    const challenge = status === 401 ? { 'www-authenticate': 'Basic realm="zulip"' } : {};
    response
      .writeHead(status, { 'content-type': type, date: new Date(this.#clock()).toUTCString(), ...challenge })
      .end(typeof body === 'string' ? body : `${JSON.stringify(body)}\n`);
  }

  /** Sets whether the known server counts as having deactivated itself. */
  set isDeactivated(isDeactivated: boolean) {
    Object.assign(this.servers.known.get(this.serverId) ?? {}, { isDeactivated });
  }

  async #answer(
    method: string,
    path: string,
    headers: IncomingMessage['headers'],
    body: string,
  ): Promise<Answer> {
    if (this.isDown) return { status: 502, body: '<h1>Bad Gateway</h1>' };
    const ofServers = await this.servers.answer(method, path, headers, body);
    if (ofServers !== undefined) return ofServers;
    const isRegistration = path === '/api/v1/remotes/push/e2ee/register';
    if (!isRegistration && path !== '/api/v1/remotes/push/e2ee/notify') return djangoNotFound;
    if (method !== 'POST') return djangoNotAllowed;
    const serverId = this.servers.authenticate(headers.authorization);
    if (typeof serverId !== 'string') return serverId;
    return isRegistration ? this.#register(serverId, headers, body) : this.#notify(serverId, headers, body);
  }

  #refuseRealm(serverId: string, uuid: unknown): Answer | undefined {
    const owner = typeof uuid === 'string' ? this.servers.realms.get(uuid) : undefined;
    if (owner === serverId) return undefined;
    if (owner === undefined) return refusal(403, 'MISSING_REMOTE_REALM', 'Organization not registered');
    return refusal(403, 'REMOTE_REALM_SERVER_MISMATCH_ERROR', 'registered to a different Zulip server');
  }

  #register(serverId: string, headers: IncomingMessage['headers'], body: string): Answer {
    if (headers['content-type'] !== 'application/x-www-form-urlencoded') return serverError;
    const form = new URLSearchParams(body);
    for (const name of registerFields) {
      if (!form.has(name)) {
        const more = { var_name: name };
        return refusal(400, 'REQUEST_VARIABLE_MISSING', `Missing '${name}' argument`, more);
      }
    }
    const realm = form.get('realm_uuid') ?? '';
    const refused = this.#refuseRealm(serverId, realm);
    if (refused !== undefined) return refused;
    if (form.get('bouncer_public_key') !== this.bouncerPublicKey) {
      return refusal(400, 'INVALID_BOUNCER_PUBLIC_KEY', 'Invalid bouncer_public_key');
    }
    const registration = this.#open(form.get('encrypted_push_registration') ?? '');
    const tokenId = form.get('token_id') ?? '';
    if (registration === undefined || tokenIdOf(registration.token) !== tokenId) {
      return refusal(400, 'BAD_REQUEST', 'Invalid encrypted_push_registration');
    }
    if (Math.floor(this.#clock() / 1000) - registration.timestamp > livenessSeconds) {
      return refusal(400, 'REQUEST_EXPIRED', 'Request expired');
    }
    // An existing row stays unchanged, even if it has expired.
    const key = `${realm} ${tokenId}`;
    if (!this.#rows.has(key)) this.#rows.set(key, { ...registration, isExpired: false });
    return success();
  }

  #open(sealed: string): Registration | undefined {
    const publicKey = Buffer.from(this.bouncerPublicKey, 'base64');
    const plaintext = openSealed(Buffer.from(sealed, 'base64'), publicKey, this.#privateKey);
    if (plaintext === undefined) return undefined;
    const registration = JSON.parse(Buffer.from(plaintext).toString('utf8')) as Registration;
    const hasApp = registration.ios_app_id != null;
    return hasApp === (registration.token_kind === 'apns') ? registration : undefined;
  }

  #notify(serverId: string, headers: IncomingMessage['headers'], text: string): Answer {
    if (headers['content-type'] !== 'application/json') return serverError;
    const {
      realm_uuid: realm,
      push_requests: requests,
      ...more
    } = JSON.parse(text) as {
      realm_uuid: string;
      push_requests: readonly PushRequest[];
    };
    if (Object.keys(more).length > 0) return refusal(400, 'BAD_REQUEST', 'no stock server sends that');
    const wrong = requests.map(whatIsWrong).find((each) => each !== undefined);
    if (wrong !== undefined) return refusal(400, 'BAD_REQUEST', `push_requests: ${wrong}`);
    const refused = this.#refuseRealm(serverId, realm);
    if (refused !== undefined) return refused;
    const gone = new Set<string>();
    const live: [PushRequest, Row][] = [];
    for (const request of requests) {
      const row = this.#rows.get(`${realm} ${request.token_id}`);
      if (row === undefined || row.isExpired) gone.add(request.token_id);
      else live.push([request, row]);
    }
    if (live.some(([request, row]) => vendorOf(request) !== row.token_kind)) return serverError;
    const counts = { apns: 0, fcm: 0 };
    for (const vendor of ['apns', 'fcm'] as const) {
      const some = live.filter(([, row]) => row.token_kind === vendor);
      counts[vendor] = this.#deliver(vendor, some, gone);
      // Reproduces a bug of the original: a vendor's first device overwrites a format string, so its second device
      // fails.
      if (counts[vendor] > 1) return serverError;
    }
    if (this.failuresAfterDelivery > 0 && requests.length > 0) {
      this.failuresAfterDelivery -= 1;
      return serverError;
    }
    return success({
      android_successfully_sent_count: counts.fcm,
      apple_successfully_sent_count: counts.apns,
      delete_token_ids: [...gone],
      realm_push_status: this.servers.pushStatus,
    });
  }

  /** Delivers notifications to a vendor. Returns the number that the vendor accepted. */
  #deliver(vendor: 'fcm' | 'apns', some: readonly [PushRequest, Row][], gone: Set<string>): number {
    if (this.withoutCredentials.has(vendor)) return 0;
    let count = 0;
    for (const [{ token_id: tokenId, payload, http_headers: headers = {} }, row] of some) {
      if (this.dead.has(row.token)) {
        row.isExpired = true;
        gone.add(tokenId);
        continue;
      }
      count += 1;
      const data = Object.fromEntries(Object.entries(payload).map(([name, value]) => [name, String(value)]));
      const body = vendor === 'apns' ? payload : { message: { token: row.token, data } };
      const sent = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.replace('_', '-'), String(value)]),
      );
      this.#deliveries.push({ vendor, token: row.token, headers: sent, body });
    }
    return count;
  }
}

function tokenIdOf(token: string): string {
  return createHash('sha256').update(token).digest().subarray(0, 8).toString('base64');
}

function vendorOf(request: PushRequest): 'fcm' | 'apns' {
  return request.http_headers === undefined ? 'fcm' : 'apns';
}

/** Describes what no stock server would send in a push request. Returns `undefined` if the request is valid. */
function whatIsWrong(request: PushRequest): string | undefined {
  const isApple = vendorOf(request) === 'apns';
  const names = ['payload', 'token_id', isApple ? 'http_headers' : 'fcm_priority'].sort();
  if (Object.keys(request).sort().join() !== names.join()) return `fields ${Object.keys(request)}`;
  const { payload, http_headers: headers, fcm_priority: priority, token_id: tokenId } = request;
  const inPayload = [...(isApple ? ['aps'] : []), 'encrypted_data', 'push_key_id'];
  if (Object.keys(payload).sort().join() !== inPayload.join()) return `payload ${Object.keys(payload)}`;
  if (!/^[A-Za-z0-9+/]{11}=$/.test(tokenId)) return '`token_id` is not Base64 encoded';
  if (!Number.isInteger(payload.push_key_id) || typeof payload.encrypted_data !== 'string') return 'payload';
  if (!isApple) return priority === 'high' || priority === 'normal' ? undefined : 'fcm_priority';
  const { apns_priority: number, apns_push_type: type, ...more } = headers ?? {};
  const isKnown = [10, 5, 1].includes(Number(number)) && ['alert', 'background'].includes(String(type));
  return isKnown && Object.keys(more).length === 0 ? undefined : 'http_headers';
}

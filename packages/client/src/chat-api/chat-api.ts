import {
  bouncerKeysPath,
  type ClientDeviceId,
  encodeBase64,
  type JsonObject,
  type PushAccountId,
  registerPushDevicePath,
  revokePushPath,
  type TokenKind,
  testNotificationPath,
} from '@waxwing/protocol/phone';
import type { SealedRevocation } from '../accounts/forgotten-account.js';
import { createServerClock, type PhoneClock, type ServerClock } from '../server-clock.js';
import { requireHttpsUrl } from '../web-origin.js';
import { ApiError, UnreachableError } from './api-error.js';
import { type Connection, exchangeJson } from './api-exchange.js';
import { type ClientDeviceApi, clientDeviceApi } from './client-device-api.js';
import { type EventQueue, parseEventQueue, parseEvents, type ServerEvent } from './event-queue.js';
import { type Fetch, platformFetch } from './fetch.js';
import { encodeForm, type FormFields } from './form.js';
import { fieldsOfRevocation } from './relay-api.js';
import { withKnownTokenKind } from './with-known-token-kind.js';

/** Options of {@link createChatApi}. */
export interface ChatApiOptions {
  /** The organization's URL, for example `https://chat.example.com`. */
  readonly realmUrl: string;
  readonly email: string;
  readonly apiKey: string;
  /** Default: the platform's `fetch`. */
  readonly fetch?: Fetch;
  /** Unix milliseconds; default: the device's clock. */
  readonly clock?: PhoneClock;
  /** Timeout of one request, in milliseconds; default 30,000. */
  readonly timeoutMilliseconds?: number;
}

/** Parameters of `POST /mobile_push/register` in the older generation (docs/protocol.md#mobile_pushregister). */
export interface PushDeviceRequest {
  readonly tokenKind: TokenKind;
  readonly pushAccountId: PushAccountId;
  /** Base64, like the next two fields. */
  readonly pushPublicKey: string;
  readonly bouncerPublicKey: string;
  readonly encryptedPushRegistration: string;
}

/** Parameters of `ChatApi.getEvents`. */
export interface EventsRequest {
  readonly queueId: string;
  /** Id of the last processed event. The server drops this event and all earlier ones. */
  readonly lastEventId: number;
  /** How long to wait for an event, in milliseconds; default 60,000. */
  readonly timeoutMilliseconds?: number;
}

/**
 * Chat API client for one user: the operations that a phone needs for push. Every method rejects with {@link ApiError}
 * if the server refuses, and with {@link UnreachableError} if there is no usable response.
 */
export interface ChatApi extends ClientDeviceApi {
  /** Estimate of the server's clock, based on the responses so far. */
  readonly serverClock: ServerClock;
  /**
   * Sends a sealed registration to the server. Success does not mean that the registration is `active`: the server
   * forwards it to the relay later.
   */
  registerPushDevice(request: PushDeviceRequest): Promise<void>;
  /** Deletes one of the user's devices from the server. Idempotent: succeeds for an unknown id. */
  unregisterPushDevice(pushAccountId: PushAccountId): Promise<void>;
  /** Sends a sealed revocation to the server, which forwards it to the relay. */
  revokePush(revocation: SealedRevocation): Promise<void>;
  /**
   * Requests a `test` notification for one device, given its id in either generation, or for all of the user's devices.
   */
  sendTestNotification(device?: PushAccountId | ClientDeviceId): Promise<void>;
  /**
   * Opens an event queue for these event types, such as `push_device` and `device`. Returns the queue with its initial
   * state, and the owner of the API key.
   */
  registerEventQueue(eventTypes: readonly string[]): Promise<EventQueue>;
  /** Returns the next events. Long poll: waits until there is at least one (a heartbeat counts). */
  getEvents(request: EventsRequest): Promise<readonly ServerEvent[]>;
  deleteEventQueue(queueId: string): Promise<void>;
  /** Returns the relay's signed key list, unmodified (docs/protocol.md#key-list). Sends no credentials. */
  getBouncerKeys(): Promise<JsonObject>;
}

const defaultTimeoutMilliseconds = 30_000;
const defaultEventsTimeoutMilliseconds = 60_000;

/**
 * Creates a chat API client for one user of one server.
 *
 * @throws RangeError if `realmUrl` is not an https URL. Plain http is allowed for loopback addresses only.
 */
export function createChatApi(options: ChatApiOptions): ChatApi {
  const { email, apiKey, timeoutMilliseconds = defaultTimeoutMilliseconds } = options;
  const deviceClock = options.clock ?? Date.now;
  const serverClock = createServerClock(deviceClock);
  const send = createSender(options.realmUrl, {
    fetch: options.fetch ?? platformFetch,
    deviceClock,
    serverClock,
  });
  const credentials = encodeBase64(new TextEncoder().encode(`${email}:${apiKey}`));
  const asUser = { timeoutMilliseconds, headers: { authorization: `Basic ${credentials}` } };
  const register = (path: string, given: FormFields) =>
    withKnownTokenKind(given, (fields) => send('POST', path, fields, asUser));
  const getOwnUserId = async () => (await send('GET', '/api/v1/users/me', {}, asUser)).user_id;

  return {
    serverClock,
    ...clientDeviceApi(register),
    async registerPushDevice(request) {
      await register(registerPushDevicePath, fieldsOf(request));
    },
    async unregisterPushDevice(pushAccountId) {
      await send('DELETE', registerPushDevicePath, { push_account_id: pushAccountId }, asUser);
    },
    async revokePush(revocation) {
      await send('POST', revokePushPath, fieldsOfRevocation(revocation), asUser);
    },
    async sendTestNotification(device) {
      const fields = typeof device === 'number' ? { device_id: device } : { push_account_id: device };
      await send('POST', testNotificationPath, fields, asUser);
    },
    async registerEventQueue(eventTypes) {
      const fetched = JSON.stringify([...eventTypes, 'realm']);
      const fields = { event_types: JSON.stringify(eventTypes), fetch_event_types: fetched };
      const asked = send('POST', '/api/v1/register', fields, asUser);
      const answer = await asked.catch((error) => refuseOtherServer(options.realmUrl, error));
      // Some servers omit the user id from this response.
      const { user_id: userId = await getOwnUserId() } = answer;
      return parseEventQueue({ ...answer, user_id: userId ?? null });
    },
    async getEvents({ queueId, lastEventId, timeoutMilliseconds = defaultEventsTimeoutMilliseconds }) {
      const fields = { queue_id: queueId, last_event_id: lastEventId };
      return parseEvents(await send('GET', '/api/v1/events', fields, { ...asUser, timeoutMilliseconds }));
    },
    async deleteEventQueue(queueId) {
      await send('DELETE', '/api/v1/events', { queue_id: queueId }, asUser);
    },
    getBouncerKeys: () => send('GET', bouncerKeysPath, {}, { timeoutMilliseconds, headers: {} }),
  };
}

function fieldsOf(request: PushDeviceRequest): FormFields {
  return {
    token_kind: request.tokenKind,
    push_account_id: request.pushAccountId,
    push_public_key: request.pushPublicKey,
    bouncer_public_key: request.bouncerPublicKey,
    encrypted_push_registration: request.encryptedPushRegistration,
  };
}

/**
 * Throws an UnreachableError for a 404 from `/register`, because every chat server has that endpoint. Rethrows any
 * other error.
 */
function refuseOtherServer(realmUrl: string, error: unknown): never {
  if (!(error instanceof ApiError && error.httpStatus === 404)) throw error;
  const message = `The server at ${realmUrl} is not a chat server: realmUrl must be the address of the organization's server.`;
  throw new UnreachableError(message, { cause: error });
}

interface SendOptions {
  readonly timeoutMilliseconds: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Creates a function that sends requests. Form fields go into the query string of a GET request, or into the body of
 * any other request.
 */
function createSender(realmUrl: string, connection: Connection) {
  const baseUrl = requireHttpsUrl('realmUrl', realmUrl);
  return (method: 'GET' | 'POST' | 'DELETE', path: string, fields: FormFields, options: SendOptions) => {
    const form = encodeForm(fields);
    const inQuery = method === 'GET';
    const url = `${baseUrl}${path}${inQuery && form !== '' ? `?${form}` : ''}`;
    if (inQuery) return exchangeJson(connection, { ...options, method, url });
    const headers = { ...options.headers, 'content-type': 'application/x-www-form-urlencoded' };
    return exchangeJson(connection, { ...options, method, url, headers, body: form });
  };
}

import {
  bouncerKeysPath,
  encodeBase64,
  type JsonObject,
  type PushAccountId,
  registerPushDevicePath,
  type TokenKind,
  testNotificationPath,
} from '@waxwing/protocol/phone';
import { createServerClock, type PhoneClock, type ServerClock } from '../server-clock.js';
import { requireRealmUrl } from '../web-origin.js';
import { ApiError, UnreachableError } from './api-error.js';
import { type Connection, exchangeJson } from './api-exchange.js';
import { type EventQueue, parseEventQueue, parseEvents, type ServerEvent } from './event-queue.js';
import type { Fetch } from './fetch.js';
import { encodeForm, type FormFields } from './form.js';

export interface ChatApiOptions {
  /** For example `https://chat.example.com`. */
  readonly realmUrl: string;
  readonly email: string;
  readonly apiKey: string;
  /** The platform's own by default. */
  readonly fetch?: Fetch;
  /** Milliseconds since 1970; the device's clock by default. */
  readonly clock?: PhoneClock;
  /** For one request; 30 s by default. */
  readonly timeoutMilliseconds?: number;
}

/** The parameters of `POST /mobile_push/register`. */
export interface PushDeviceRequest {
  readonly tokenKind: TokenKind;
  readonly pushAccountId: PushAccountId;
  /** Base64, as the next two. */
  readonly pushPublicKey: string;
  readonly bouncerPublicKey: string;
  readonly encryptedPushRegistration: string;
}

export interface EventsRequest {
  readonly queueId: string;
  /** Events up to this one are forgotten by the server. */
  readonly lastEventId: number;
  /** How long to wait for an event; 60 s by default. */
  readonly timeoutMilliseconds?: number;
}

/**
 * The operations of the chat API that a phone needs for push, as one user.
 * Every method throws `ApiError` when the server refuses, and `UnreachableError` when it gives no usable answer.
 */
export interface ChatApi {
  /** The server's clock, as far as answers have told it. */
  readonly serverClock: ServerClock;
  /** Hands the sealed registration to the server, which forwards it to the relay later: success is not `active` yet. */
  registerPushDevice(request: PushDeviceRequest): Promise<void>;
  /** Has the server forget one of the user's devices; one that it does not know is forgotten already. */
  unregisterPushDevice(pushAccountId: PushAccountId): Promise<void>;
  /** Asks for a notification of type `test` to one device, or to all of the user's devices. */
  sendTestNotification(pushAccountId?: PushAccountId): Promise<void>;
  /**
   * Opens an event queue for events of these types, such as `push_device`, and tells the state from which it starts, and
   * whose queue it is.
   */
  registerEventQueue(eventTypes: readonly string[]): Promise<EventQueue>;
  /** The next events; waits until there is at least one (a heartbeat counts). */
  getEvents(request: EventsRequest): Promise<readonly ServerEvent[]>;
  deleteEventQueue(queueId: string): Promise<void>;
  /** The relay's signed key list, exactly as the server passes it on. The request is not authenticated. */
  getBouncerKeys(): Promise<JsonObject>;
}

const defaultTimeoutMilliseconds = 30_000;
const defaultEventsTimeoutMilliseconds = 60_000;

/**
 * The chat API of one server for one user.
 * @throws RangeError when `realmUrl` is not an https URL (plain http is taken for this machine alone).
 */
export function createChatApi(options: ChatApiOptions): ChatApi {
  const { email, apiKey, timeoutMilliseconds = defaultTimeoutMilliseconds } = options;
  const deviceClock = options.clock ?? Date.now;
  const serverClock = createServerClock(deviceClock);
  const send = createSender(options.realmUrl, {
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    deviceClock,
    serverClock,
  });
  const credentials = encodeBase64(new TextEncoder().encode(`${email}:${apiKey}`));
  const asUser = { timeoutMilliseconds, headers: { authorization: `Basic ${credentials}` } };
  const getOwnUserId = async () => (await send('GET', '/api/v1/users/me', {}, asUser)).user_id;

  return {
    serverClock,
    async registerPushDevice(request) {
      const fields = {
        token_kind: request.tokenKind,
        push_account_id: request.pushAccountId,
        push_public_key: request.pushPublicKey,
        bouncer_public_key: request.bouncerPublicKey,
        encrypted_push_registration: request.encryptedPushRegistration,
      };
      await send('POST', registerPushDevicePath, fields, asUser);
    },
    async unregisterPushDevice(pushAccountId) {
      await send('DELETE', registerPushDevicePath, { push_account_id: pushAccountId }, asUser);
    },
    async sendTestNotification(pushAccountId) {
      await send('POST', testNotificationPath, { push_account_id: pushAccountId }, asUser);
    },
    async registerEventQueue(eventTypes) {
      const fetched = JSON.stringify([...eventTypes, 'realm']);
      const fields = { event_types: JSON.stringify(eventTypes), fetch_event_types: fetched };
      const asked = send('POST', '/api/v1/register', fields, asUser);
      const answer = await asked.catch((error) => refuseOtherServer(options.realmUrl, error));
      // Not every server says there whose queue it is.
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

/** @throws UnreachableError when the server has no `/register`, as every chat server has; else the error itself. */
function refuseOtherServer(realmUrl: string, error: unknown): never {
  if (!(error instanceof ApiError && error.httpStatus === 404)) throw error;
  const message = `What answers at ${realmUrl} is no chat server: realmUrl must be the address of the organisation's server.`;
  throw new UnreachableError(message, { cause: error });
}

interface SendOptions {
  readonly timeoutMilliseconds: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends form fields where the method wants them: in the query of a GET, else in the body. */
function createSender(realmUrl: string, connection: Connection) {
  const baseUrl = requireRealmUrl(realmUrl);
  return (method: 'GET' | 'POST' | 'DELETE', path: string, fields: FormFields, options: SendOptions) => {
    const form = encodeForm(fields);
    const inQuery = method === 'GET';
    const url = `${baseUrl}${path}${inQuery && form !== '' ? `?${form}` : ''}`;
    if (inQuery) return exchangeJson(connection, { ...options, method, url });
    const headers = { ...options.headers, 'content-type': 'application/x-www-form-urlencoded' };
    return exchangeJson(connection, { ...options, method, url, headers, body: form });
  };
}

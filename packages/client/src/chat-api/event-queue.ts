import {
  type ClientDeviceEvent,
  type ClientDeviceOnWire,
  type JsonObject,
  type JsonValue,
  type PushAccountId,
  type PushDeviceStatus,
  parseClientDeviceEvent,
  parseClientDevices,
  parsePushDeviceEvent,
  parsePushDevices,
} from '@waxwing/protocol/phone';
import { jsonSafe } from '../json-safe.js';
import { UnreachableError } from './api-error.js';

/** State of one PushDevice on the server. */
export interface PushDeviceState {
  readonly status: PushDeviceStatus;
  /** Present if `status` is `failed`. */
  readonly errorCode?: string;
}

/** An event queue, with the server's state at the time the queue was opened. */
export interface EventQueue {
  readonly queueId: string;
  readonly lastEventId: number;
  /** Owner of the API key. */
  readonly userId: number | bigint;
  /** The organization's URL according to the server; `undefined` from old servers. */
  readonly realmUrl: string | undefined;
  /** UUID of the organization; `undefined` from old servers. */
  readonly realmUuid: string | undefined;
  /** `zulip_feature_level` of the server; `undefined` if the server does not report it. */
  readonly featureLevel: number | undefined;
  /** The user's PushDevices by decimal push account id. */
  readonly pushDevices: ReadonlyMap<string, PushDeviceState>;
  /** The user's devices of the newer generation, by decimal device id. */
  readonly clientDevices: ReadonlyMap<string, ClientDeviceOnWire>;
}

/** An event from the queue. Only `push_device` and `device` events are parsed; all other events have only an `id`. */
export interface ServerEvent {
  readonly id: number;
  readonly pushDevice?: PushDeviceState & { readonly pushAccountId: PushAccountId };
  readonly clientDevice?: ClientDeviceEvent;
}

/**
 * Parses the response that opens an event queue. Like `parseEvents`, throws an UnreachableError if the response does
 * not match the chat API.
 */
export function parseEventQueue(answer: JsonObject): EventQueue {
  const { queue_id: queueId, last_event_id: lastEventId, realm_uuid: realmUuid, user_id: userId } = answer;
  const realmUrl = answer.realm_url ?? answer.realm_uri;
  const pushDevices = parsePushDevices(answer.push_devices ?? {});
  const clientDevices = parseClientDevices(answer.devices ?? {});
  const featureLevel = answer.zulip_feature_level;
  if (
    typeof queueId !== 'string' ||
    typeof lastEventId !== 'number' ||
    !isInteger(userId) ||
    pushDevices === undefined ||
    clientDevices === undefined
  ) {
    throw new UnreachableError("The server's response to /register contains no usable event queue.");
  }
  const states = [...pushDevices].map(
    ([id, { status, error_code }]) => [id, stateOf(status, error_code)] as const,
  );
  return jsonSafe({
    queueId,
    lastEventId,
    userId,
    realmUrl: typeof realmUrl === 'string' ? realmUrl : undefined,
    realmUuid: typeof realmUuid === 'string' ? realmUuid : undefined,
    featureLevel: typeof featureLevel === 'number' ? featureLevel : undefined,
    pushDevices: new Map(states),
    clientDevices,
  });
}

function isInteger(value: JsonValue | undefined): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

export function parseEvents(answer: JsonObject): readonly ServerEvent[] {
  if (!Array.isArray(answer.events)) {
    throw new UnreachableError("The server's response to /events contains no events.");
  }
  return jsonSafe(answer.events.map((event) => jsonSafe(parseEvent(event))));
}

function parseEvent(event: JsonObject): ServerEvent {
  const id = event?.id;
  if (typeof id !== 'number') throw new UnreachableError('The server sent an event without an id.');
  const clientDevice = parseClientDeviceEvent(event);
  if (clientDevice !== undefined) return { id, clientDevice };
  const parsed = parsePushDeviceEvent(event);
  if (parsed === undefined) return { id };
  const { push_account_id: pushAccountId, status, error_code } = parsed;
  return { id, pushDevice: { pushAccountId, ...stateOf(status, error_code) } };
}

function stateOf(status: PushDeviceStatus, errorCode: string | null | undefined): PushDeviceState {
  return errorCode == null ? { status } : { status, errorCode };
}

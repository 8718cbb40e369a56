import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http2';
import { isObject } from '../json-web-token.js';
import type { ProviderTokens } from './provider-tokens.js';
import { type Refusal, refuse } from './refusal.js';

/** A request that APNs would accept. */
export interface CheckedRequest {
  readonly deviceToken: string;
  readonly topic: string;
  readonly bodyText: string;
  /** Value of the `authorization` header. Requests with the same value share one string, to save memory. */
  readonly authorization: string;
}

export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  /** Alternating header names and values, as received. A repeated header is present twice. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** Size of the body that the client sent, in bytes. `body` may contain only its beginning. */
  readonly bodyBytes: number;
}

const pushTypes = new Set([
  'alert',
  'background',
  'complication',
  'controls',
  'fileprovider',
  'liveactivity',
  'location',
  'mdm',
  'pushtotalk',
  'voip',
  'widgets',
]);
const canonicalUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const devicePath = /^\/3\/device\/([^/?#]*)$/;
const maximumPayloadBytes = 4096;
/** Payload limit of VoIP notifications, which is the largest limit of all push types. */
export const maximumVoipPayloadBytes = 5120;

/**
 * Validates a request as Apple does.
 * https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
 */
export function checkRequest(
  request: ReceivedRequest,
  providerTokens: ProviderTokens,
): CheckedRequest | Refusal {
  const { headers, rawHeaders } = request;
  if (headers[':method'] !== 'POST') {
    return refuse('MethodNotAllowed', `the method is ${headers[':method']}, not POST`);
  }
  const [, deviceToken] = devicePath.exec(headers[':path'] ?? '') ?? [];
  if (deviceToken === undefined) return refuse('BadPath', 'the path is not /3/device/ and a device token');
  const authorization = providerTokens.check(headers.authorization);
  if (typeof authorization !== 'string') return authorization;
  const refusal =
    checkDeviceToken(deviceToken) ?? findRepeatedHeader(headers, rawHeaders) ?? checkHeaders(headers);
  if (refusal) return refusal;
  const bodyText = readPayload(request);
  if (typeof bodyText !== 'string') return bodyText;
  return { deviceToken, topic: headers['apns-topic'] as string, bodyText, authorization };
}

/** Returns a request's `apns-id`, or `undefined` if that is not a canonical UUID. */
export function readApnsId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['apns-id'];
  return typeof id === 'string' && canonicalUuid.test(id) ? id : undefined;
}

function checkDeviceToken(deviceToken: string): Refusal | undefined {
  if (deviceToken === '') return refuse('MissingDeviceToken', 'the path ends without a device token');
  if (/^[0-9a-fA-F]+$/.test(deviceToken)) return undefined;
  return refuse('BadDeviceToken', 'the device token is not hexadecimal');
}

function findRepeatedHeader(
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): Refusal | undefined {
  if (rawHeaders.length === Object.keys(headers).length * 2) return undefined;
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return refuse('DuplicateHeaders', `the ${repeated} header occurs more than once`);
}

function checkHeaders(headers: IncomingHttpHeaders): Refusal | undefined {
  const id = headers['apns-id'];
  if (id !== undefined && readApnsId(headers) === undefined) {
    return refuse('BadMessageId', 'apns-id is not a UUID of lower-case hexadecimal digits');
  }
  const topic = headers['apns-topic'];
  if (topic === undefined) return refuse('MissingTopic', 'there is no apns-topic header');
  if (!/^[A-Za-z0-9._-]{1,255}$/.test(String(topic)))
    return refuse('BadTopic', 'apns-topic is not a bundle id');
  const pushType = headers['apns-push-type'];
  if (pushType !== undefined && !pushTypes.has(String(pushType))) {
    return refuse('InvalidPushType', `apns-push-type is none of ${[...pushTypes].join(', ')}`);
  }
  const priority = headers['apns-priority'];
  if (priority !== undefined && priority !== '10' && priority !== '5' && priority !== '1') {
    return refuse('BadPriority', 'apns-priority is none of 10, 5 and 1');
  }
  if (pushType === 'background' && priority === '10') {
    return refuse('BadPriority', 'apns-priority of a background notification is 10, but must be 5');
  }
  const expiration = headers['apns-expiration'];
  if (expiration !== undefined && !/^\d{1,10}$/.test(String(expiration))) {
    return refuse('BadExpirationDate', 'apns-expiration is not Unix seconds');
  }
  const collapseId = headers['apns-collapse-id'];
  if (collapseId !== undefined && (collapseId.length < 1 || collapseId.length > 64)) {
    return refuse('BadCollapseId', 'apns-collapse-id is not 1 to 64 bytes long');
  }
  return undefined;
}

function readPayload({ headers, body, bodyBytes }: ReceivedRequest): string | Refusal {
  const limit = headers['apns-push-type'] === 'voip' ? maximumVoipPayloadBytes : maximumPayloadBytes;
  if (bodyBytes > limit)
    return refuse('PayloadTooLarge', `the payload is ${bodyBytes} bytes, more than ${limit}`);
  // Apple has no reason for a payload that is not JSON, so an unreadable payload counts as empty.
  if (bodyBytes === 0) return refuse('PayloadEmpty', 'there is no payload');
  if (!isUtf8(body)) return refuse('PayloadEmpty', 'the payload is not UTF-8');
  const text = body.toString('utf8');
  try {
    const payload: unknown = JSON.parse(text);
    if (isObject(payload) && (payload.aps === undefined || isObject(payload.aps))) return text;
    return refuse('PayloadEmpty', 'the payload is not a JSON object with an object aps');
  } catch (error) {
    if (error instanceof SyntaxError) return refuse('PayloadEmpty', 'the payload is not JSON');
    throw error;
  }
}

import { decodeBase64 } from './base64.js';
import { isJsonObject, parseJsonOrUndefined } from './json.js';
import { maximumPushEndpointCharacters } from './limits.js';

/** A Web Push subscription (RFC 8030, RFC 8291), from a browser's `PushSubscription` or a UnifiedPush connector. */
export interface WebPushSubscription {
  /** The push service's URL for this subscription: `https`, at most 2,048 characters. */
  readonly endpoint: string;
  /** The subscription's public key: an uncompressed P-256 point (65 bytes), in base64url without padding. */
  readonly p256dh: string;
  /** The subscription's authentication secret: 16 bytes in base64url without padding. */
  readonly auth: string;
}

const publicKeyBytes = 65;
const authenticationSecretBytes = 16;
const uncompressedPoint = 0x04;

// Matches exactly those URLs that a URL parser (https://url.spec.whatwg.org) leaves unchanged. A pattern is needed
// because React Native's URL class changes some URLs. User names, fragments, port 443, IPv6 addresses and trailing dots
// are not allowed.
const label = '[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?';
const host = `(?:${label}\\.)*${label}`;
const httpsUrl = new RegExp(
  `^https://(${host})(?::([1-9][0-9]{0,4}))?(/[!$%&'()*+,./0-9:;=@A-Z_a-z~|\\[\\]-]*)(?:\\?[!$%&()*+,./0-9:;=?@A-Z_a-z~|\\[\\]-]*)?$`,
);
const ipv4Address = /^(?:(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])(?:\.|$)){4}$/;
// URL parsers treat a host name whose last label looks like this as an IPv4 address, which can be written in many ways.
const numericLastLabel = /(?:^|\.)(?:\d+|0x[\da-f]*)$/;
const dotSegment = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

/**
 * Encodes a subscription as a `webpush` token (docs/protocol.md#web-push-tokens). Converts the keys from standard
 * base64 and removes their padding; does not change the endpoint.
 * @throws RangeError whose message names the invalid field.
 */
export function encodeWebPushToken(subscription: WebPushSubscription): string {
  const { endpoint } = subscription;
  const p256dh = toBase64Url(subscription.p256dh);
  const auth = toBase64Url(subscription.auth);
  const problem = findProblem({ endpoint, p256dh, auth });
  if (problem !== undefined) throw new RangeError(problem);
  return JSON.stringify({ endpoint, p256dh, auth });
}

/** Parses a `webpush` token. Returns `undefined` for any string that {@link encodeWebPushToken} would not produce. */
export function parseWebPushToken(text: string): WebPushSubscription | undefined {
  const value = parseJsonOrUndefined(text, JSON.parse);
  if (!isJsonObject(value)) return undefined;
  const { endpoint, p256dh, auth } = value;
  if (typeof endpoint !== 'string' || typeof p256dh !== 'string' || typeof auth !== 'string')
    return undefined;
  const subscription = { endpoint, p256dh, auth };
  if (findProblem(subscription) !== undefined) return undefined;
  return JSON.stringify(subscription) === text ? subscription : undefined;
}

function findProblem({ endpoint, p256dh, auth }: WebPushSubscription): string | undefined {
  if (endpoint.length > maximumPushEndpointCharacters) {
    return `the endpoint has ${endpoint.length} characters, and at most ${maximumPushEndpointCharacters} are allowed`;
  }
  if (!isEndpoint(endpoint)) {
    return 'the endpoint must be an https URL as a URL parser writes it, without user, fragment or default port';
  }
  const key = decodeBase64Url(p256dh);
  if (key?.length !== publicKeyBytes || key[0] !== uncompressedPoint) {
    return `p256dh must be an uncompressed P-256 point: ${publicKeyBytes} bytes in base64url`;
  }
  if (decodeBase64Url(auth)?.length !== authenticationSecretBytes) {
    return `auth must be ${authenticationSecretBytes} bytes in base64url`;
  }
  return undefined;
}

function isEndpoint(endpoint: string): boolean {
  const [, name = '', port, path = ''] = httpsUrl.exec(endpoint) ?? [];
  if (name === '' || (numericLastLabel.test(name) && !ipv4Address.test(name))) return false;
  if (port !== undefined && (Number(port) > 65_535 || Number(port) === 443)) return false;
  return !dotSegment.test(path);
}

/** Decodes canonical base64url without padding (RFC 4648 section 5). Returns `undefined` for anything else. */
function decodeBase64Url(text: string): Uint8Array | undefined {
  if (/[+/=]/.test(text)) return undefined;
  const padding = '='.repeat((4 - (text.length % 4)) % 4);
  return decodeBase64(text.replace(/-/g, '+').replace(/_/g, '/') + padding);
}

function toBase64Url(text: string): string {
  return text
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/={1,2}$/, '');
}

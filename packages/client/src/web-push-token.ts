import { encodeWebPushToken, parseWebPushToken } from '@waxwing/protocol/phone';
import type { PushToken } from './push-token.js';

/** Push token for Web Push. Its `token` is the subscription as JSON. */
export type WebPushToken = Extract<PushToken, { readonly tokenKind: 'webpush' }>;

/**
 * The part of a browser's `PushSubscription`, or of the result of its `toJSON`, that {@link fromPushSubscription}
 * reads.
 */
export interface PushSubscriptionLike {
  readonly endpoint?: string | null | undefined;
  readonly keys?: { readonly [name: string]: string } | undefined;
  toJSON?(): { readonly keys?: { readonly [name: string]: string } | undefined };
}

/** A UnifiedPush endpoint as connector libraries pass it to an app, with its Web Push keys in base64url. */
export interface UnifiedPushEndpoint {
  readonly url: string;
  readonly pubKeySet?: { readonly pubKey: string; readonly auth: string } | null | undefined;
}

/**
 * Creates a push token from a browser's `PushSubscription`, or from its `toJSON()`.
 *
 * @throws RangeError that names the missing or wrong field. The message contains no key.
 */
export function fromPushSubscription(subscription: PushSubscriptionLike): WebPushToken {
  const { endpoint } = Object(subscription) as PushSubscriptionLike;
  if (typeof endpoint !== 'string') {
    throw new RangeError(
      'subscription must be a PushSubscription, or the result of its toJSON: it has no endpoint.',
    );
  }
  const keys = subscription.keys ?? subscription.toJSON?.().keys;
  return tokenOf('subscription', { endpoint, p256dh: keys?.p256dh, auth: keys?.auth });
}

/**
 * Creates a push token from a UnifiedPush endpoint. Requires a connector that provides `pubKeySet` (version 3 or
 * later): without these keys the endpoint cannot receive encrypted Web Push messages.
 *
 * @throws RangeError that names the missing or wrong field. The message contains no key.
 */
export function fromUnifiedPush(endpoint: UnifiedPushEndpoint): WebPushToken {
  const { url, pubKeySet } = Object(endpoint) as UnifiedPushEndpoint;
  if (typeof url !== 'string') {
    throw new RangeError('endpoint must be the endpoint object of the UnifiedPush connector: it has no url.');
  }
  return tokenOf('endpoint', { endpoint: url, p256dh: pubKeySet?.pubKey, auth: pubKeySet?.auth });
}

function tokenOf(
  name: string,
  { endpoint, p256dh, auth }: { endpoint: string; p256dh: string | undefined; auth: string | undefined },
): WebPushToken {
  if (typeof p256dh !== 'string' || typeof auth !== 'string') {
    throw new RangeError(`${name} has no keys: it must contain the Web Push public key and auth secret.`);
  }
  try {
    return { tokenKind: 'webpush', token: encodeWebPushToken({ endpoint, p256dh, auth }) };
  } catch (error) {
    throw new RangeError(`${name} cannot be used: ${(error as RangeError).message}.`, { cause: error });
  }
}

/** Validates a Web Push token. @throws RangeError for any other string. The message does not contain the string. */
export function requireWebPushToken(token: string): void {
  if (parseWebPushToken(token) !== undefined) return;
  throw new RangeError(
    'pushToken.token for Web Push is not a subscription: create the token with fromPushSubscription or fromUnifiedPush.',
  );
}

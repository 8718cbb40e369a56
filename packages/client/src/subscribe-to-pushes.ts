import { requireVapidKey } from './require-options.js';
import { fromPushSubscription, type PushSubscriptionLike, type WebPushToken } from './web-push-token.js';

/** The part of a `ServiceWorkerRegistration` that {@link subscribeToPushes} uses. */
export interface PushRegistrationLike {
  /** Absent in browsers without Web Push. */
  readonly pushManager?: {
    getSubscription(): Promise<BrowserSubscription | null>;
    subscribe(options: { userVisibleOnly: true; applicationServerKey: string }): Promise<BrowserSubscription>;
  };
}

const longestSubscribingSeconds = 30;

type BrowserSubscription = PushSubscriptionLike & {
  readonly options?: { readonly applicationServerKey?: ArrayBuffer | null };
  unsubscribe(): Promise<boolean>;
};

/**
 * Returns a browser's push token, for use as the `pushToken` option. Subscribes with the relay's VAPID key unless the
 * browser already has such a subscription. Returns `undefined` if the browser has no Web Push, or while the user has
 * not allowed notifications: request permission with `Notification.requestPermission()` in a click handler, and then
 * call `sync`.
 *
 * @param vapidPublicKey base64url of 65 bytes, from the relay's operator.
 *
 * @throws RangeError if the key or registration is invalid; the browser's error if its push service refuses; an `Error`
 * if the push service does not respond within 30 seconds.
 */
export async function subscribeToPushes(
  registration: PushRegistrationLike,
  vapidPublicKey: string,
): Promise<WebPushToken | undefined> {
  // Validated first, because an invalid key matches no subscription and would cancel the one that works.
  requireVapidKey(vapidPublicKey);
  if (typeof registration !== 'object' || registration === null) {
    throw new RangeError('registration must be the result of navigator.serviceWorker.register.');
  }
  const { pushManager } = registration;
  const { Notification: permissions } = globalThis as { Notification?: { readonly permission: string } };
  if (pushManager === undefined || permissions?.permission !== 'granted') return undefined;
  const existing = await pushManager.getSubscription();
  if (existing !== null && isFor(existing, vapidPublicKey)) return fromPushSubscription(existing);
  // A subscription is bound to one VAPID key, and the browser refuses to subscribe with another key while it exists.
  await existing?.unsubscribe();
  const options = { userVisibleOnly: true, applicationServerKey: vapidPublicKey } as const;
  return fromPushSubscription(await inTime(pushManager.subscribe(options)));
}

/**
 * Adds a timeout to a browser call. A browser without a connection to its push service may wait forever, and `sync`
 * would wait with it.
 */
async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new Error(`The browser's push service did not answer for ${longestSubscribingSeconds} seconds.`),
      );
    }, longestSubscribingSeconds * 1000);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function isFor({ options }: BrowserSubscription, vapidPublicKey: string): boolean {
  const key = options?.applicationServerKey;
  // If the browser does not report the key, assume a match.
  if (key === undefined || key === null) return true;
  const text = btoa(String.fromCharCode(...new Uint8Array(key)));
  return text.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '') === vapidPublicKey;
}

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
 * Returns the push token of a browser, for the option `pushToken`. Subscribes with the relay's VAPID key if the browser
 * has no such subscription. Returns `undefined` if the browser has no Web Push, or while the user has not allowed
 * notifications: request permission with `Notification.requestPermission()` in a click handler, and then call `sync`.
 *
 * @param vapidPublicKey base64url of 65 bytes, from the relay's operator.
 *
 * @throws RangeError for another key or registration; the browser's error if its push service refuses; an `Error` if the
 * service does not answer for 30 seconds.
 */
export async function subscribeToPushes(
  registration: PushRegistrationLike,
  vapidPublicKey: string,
): Promise<WebPushToken | undefined> {
  // First: an invalid key matches no subscription, and would end the one that works.
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
 * Adds a timeout to a browser call. Without a connection to its push service, a browser may wait forever, and `sync`
 * would then also wait forever.
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
  // A browser that does not report the key cannot be checked: assume a match.
  if (key === undefined || key === null) return true;
  const text = btoa(String.fromCharCode(...new Uint8Array(key)));
  return text.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '') === vapidPublicKey;
}

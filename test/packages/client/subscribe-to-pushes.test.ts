import { fromPushSubscription, subscribeToPushes } from '@waxwing/client';
import { afterEach, describe, expect, it, vi } from 'vitest';

const keys = { p256dh: `BD${'aZ0-_b'.repeat(14)}k`, auth: 'k8JV6sjdbhAi1n3_LDBLvA' };
const vapidKey = `BD${'bZ0-_c'.repeat(14)}s`;
const otherVapidKey = `BD${'cZ0-_d'.repeat(14)}s`;

/** A browser's push manager. */
class PushManager {
  subscription: ReturnType<PushManager['made']> | null = null;
  made(applicationServerKey: string) {
    return {
      endpoint: `https://push.example.com/${applicationServerKey.slice(2, 8)}`,
      keys,
      options: { applicationServerKey: bytesOf(applicationServerKey) },
      unsubscribe: async () => {
        this.subscription = null;
        return true;
      },
    };
  }
  getSubscription = async () => this.subscription;
  async subscribe(options: { userVisibleOnly: true; applicationServerKey: string }) {
    if (this.subscription !== null)
      throw new Error('InvalidStateError: there is a subscription for another key');
    this.subscription = this.made(options.applicationServerKey);
    return this.subscription;
  }
}

function bytesOf(base64Url: string): ArrayBuffer {
  return Uint8Array.from(Buffer.from(base64Url, 'base64url')).buffer;
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('Subscribing to pushes', () => {
  it('returns the token of a new subscription, and reuses the subscription from then on', async () => {
    vi.stubGlobal('Notification', { permission: 'granted' });
    const pushManager = new PushManager();
    const token = await subscribeToPushes({ pushManager }, vapidKey);
    expect(token).toEqual(fromPushSubscription(pushManager.made(vapidKey)));
    expect(await subscribeToPushes({ pushManager }, vapidKey)).toEqual(token);
  });

  it('replaces a subscription for another VAPID key', async () => {
    vi.stubGlobal('Notification', { permission: 'granted' });
    const pushManager = new PushManager();
    const before = await subscribeToPushes({ pushManager }, otherVapidKey);
    expect(await subscribeToPushes({ pushManager }, vapidKey)).not.toEqual(before);
  });

  it.each([
    ['undefined', undefined],
    ['an empty string', ''],
    ['a key with padding', `${vapidKey}=`],
    ['a key in standard base64', vapidKey.replaceAll('-', '+').replaceAll('_', '/')],
    ['a truncated key', vapidKey.slice(0, -1)],
    ['a bouncer key', btoa('k'.repeat(32))],
  ])('rejects %s as the VAPID key, and keeps the working subscription', async (_, key) => {
    vi.stubGlobal('Notification', { permission: 'granted' });
    const pushManager = new PushManager();
    await subscribeToPushes({ pushManager }, vapidKey);
    const refused = subscribeToPushes({ pushManager }, key as string);
    await expect(refused).rejects.toThrow(RangeError);
    await expect(refused).rejects.toThrow('waxwing-relay apps vapid prints it');
    expect(pushManager.subscription).not.toBeNull();
  });

  it('rejects a missing registration', async () => {
    const refused = subscribeToPushes(undefined as unknown as { pushManager?: never }, vapidKey);
    await expect(refused).rejects.toThrow('navigator.serviceWorker.register');
  });

  it.each(['default', 'denied'])('returns no token while the permission is %s', async (permission) => {
    vi.stubGlobal('Notification', { permission });
    const pushManager = new PushManager();
    expect(await subscribeToPushes({ pushManager }, vapidKey)).toBeUndefined();
    expect(pushManager.subscription).toBeNull();
  });

  it('returns no token in a browser without Web Push', async () => {
    vi.stubGlobal('Notification', { permission: 'granted' });
    expect(await subscribeToPushes({}, vapidKey)).toBeUndefined();
  });

  it('fails after 30 seconds if the push service does not respond', async () => {
    vi.stubGlobal('Notification', { permission: 'granted' });
    vi.useFakeTimers();
    const pushManager = { getSubscription: async () => null, subscribe: () => new Promise<never>(() => {}) };
    const refused = expect(subscribeToPushes({ pushManager }, vapidKey)).rejects.toThrow(
      "The browser's push service did not answer for 30 seconds.",
    );
    await vi.advanceTimersByTimeAsync(30_000);
    await refused;
  });
});

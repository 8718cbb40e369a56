import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  type PushClientOptions,
  type PushToken,
  type Registrar,
} from '@waxwing/client';
import { FakeChatServer } from './fake-chat-server.js';

/** Creates a phone and a fake chat server. The test can adjust both. */
export async function createPhone(options: Partial<PushClientOptions> = {}) {
  const server = new FakeChatServer();
  const bouncerPublicKey = server.addBouncerKey(1);
  const accounts = createMemoryPushAccountStore();
  /** `clockErrorMilliseconds`: how far the phone's clock is ahead. */
  const knobs: { token: PushToken | undefined; clockErrorMilliseconds: number } = {
    token: { tokenKind: 'fcm', token: 'fcm-token-1:APA91bExample_-' },
    clockErrorMilliseconds: 0,
  };
  const client = await createPushClient({
    bouncerPublicKey,
    pushToken: () => knobs.token,
    accounts,
    seen: createMemorySeenNotifications(),
    fetch: server.fetch,
    clock: () => server.now + knobs.clockErrorMilliseconds,
    ...options,
  });
  const registrar: Registrar = client.registrar({
    realmUrl: server.url,
    userId: server.userId,
    email: server.email,
    apiKey: server.apiKey,
  });
  return { server, accounts: options.accounts ?? accounts, knobs, client, registrar, bouncerPublicKey };
}

export type Phone = Pick<Awaited<ReturnType<typeof createPhone>>, 'server' | 'registrar'>;

/** Makes the phone register again by removing its device, which a server may lose at any time. */
export async function registerAgain({ server, registrar }: Phone) {
  server.devices.clear();
  const status = await registrar.sync();
  return { status, dated: Number(server.lastRegistration.registration.timestamp) * 1000 };
}

import { randomBytes } from 'node:crypto';
import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  type PushClient,
  type Registrar,
} from '@waxwing/client';

export interface JourneyPhone {
  readonly client: PushClient;
  readonly registrar: Registrar;
  readonly token: string;
  /** Bodies of the phone's requests to the server, oldest first. */
  readonly sentForms: readonly URLSearchParams[];
}

export interface PhoneOwner {
  readonly realmUrl: string;
  readonly userId: number;
  readonly email: string;
  readonly apiKey: string;
  readonly bouncerPublicKey: string;
}

/** Creates a phone with a made-up FCM token that is signed in as its owner. */
export async function createJourneyPhone({
  bouncerPublicKey,
  ...account
}: PhoneOwner): Promise<JourneyPhone> {
  const token = `${randomBytes(11).toString('base64url')}:APA91b${randomBytes(100).toString('base64url')}`;
  const sentForms: URLSearchParams[] = [];
  const client = await createPushClient({
    bouncerPublicKey,
    pushToken: () => ({ tokenKind: 'fcm', token }),
    accounts: createMemoryPushAccountStore(),
    seen: createMemorySeenNotifications(),
    fetch: (url, init) => {
      if (typeof init?.body === 'string') sentForms.push(new URLSearchParams(init.body));
      return fetch(url, init);
    },
  });
  return { client, registrar: client.registrar(account), token, sentForms };
}

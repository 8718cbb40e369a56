// An app by a developer who has only this project's packages. Tests compile and bundle it outside of the repository.
import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  type OpenedNotification,
} from '@waxwing/client';
import { createOpener } from '@waxwing/client/open';
import { describeNotification } from '@waxwing/client/service-worker';

export interface Options {
  readonly bouncerPublicKey: string;
  readonly token: string;
  readonly account: { realmUrl: string; userId: number; email: string; apiKey: string };
}

export interface Registered {
  readonly code: string;
  open(data: Record<string, unknown>): Promise<OpenedNotification>;
}

/** Registers the phone, and requests a test notification. */
async function register({ bouncerPublicKey, token, account }: Options): Promise<Registered> {
  const phone = await createPushClient({
    bouncerPublicKey,
    pushToken: () => ({ tokenKind: 'fcm', token }),
    accounts: createMemoryPushAccountStore(),
    seen: createMemorySeenNotifications(),
  });
  const registrar = phone.registrar(account);
  const { code } = await registrar.sync();
  await registrar.sendTestNotification();
  return { code, open: (data) => phone.open(data) };
}

// Uses the packages' other entry points, so that they are compiled and bundled too.
Object.assign(globalThis, { register, createOpener, describeNotification });

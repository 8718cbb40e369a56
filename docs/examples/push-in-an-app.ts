import { createPushClient, createTextStores, type PushToken, type TextStorage } from '@waxwing/client';

/** The parts that the app already has: its sign-in, its storage, the phone's push token, and a user interface. */
interface App {
  readonly signIn: { realmUrl: string; userId: number; email: string; apiKey: string };
  readonly storage: TextStorage;
  pushToken(): Promise<PushToken | undefined>;
  showStatus(sentence: string): void;
  log(line: string): void;
  showNotification(title: string, text: string): void;
}

/** The relay's keys, from its operator: `waxwing-relay keys export-public`. */
interface RelayKeys {
  readonly bouncerPublicKey: string;
  readonly signingPublicKey: string;
  /** Omit it if the command prints "none". */
  readonly recoveryPublicKey?: string | undefined;
}

export async function startPush(app: App, keys: RelayKeys) {
  const { accounts, seen, forgotten, keyList: store } = createTextStores(app.storage);
  const phone = await createPushClient({
    bouncerPublicKey: keys.bouncerPublicKey,
    keyList: {
      signingPublicKey: keys.signingPublicKey,
      recoveryPublicKey: keys.recoveryPublicKey,
      store,
    },
    pushToken: () => app.pushToken(),
    accounts,
    seen,
    forgotten,
  });
  const registrar = phone.registrar(app.signIn);

  return {
    /** Call it when the app starts, when the token changes, and at a `push_device` or `device` event of the server. */
    async bringUpToDate() {
      const { sentence, code, cause, errorCode, warning } = await registrar.sync();
      app.showStatus(sentence);
      app.log(JSON.stringify({ code, cause, errorCode, warning }));
    },

    /** Call it for every push that FCM or APNs delivers. */
    async receive(data: string | Record<string, unknown>) {
      const opened = await phone.open(data);
      if (opened.kind === 'ignored') return opened.reason;
      const { notification } = opened;
      if (notification.type === 'message') {
        app.showNotification(notification.sender_full_name, notification.content);
      }
      return notification.type;
    },

    signOut: () => registrar.forget(),
  };
}

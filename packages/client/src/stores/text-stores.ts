import {
  formatPushAccountId,
  isJsonObject,
  type JsonValue,
  type PushAccountId,
  parseJsonOrUndefined,
  parsePushAccountId,
  stringifyJson,
} from '@waxwing/protocol/phone';
import type { ForgottenAccount, ForgottenAccountStore } from '../accounts/forgotten-account.js';
import type { PushAccount } from '../accounts/push-account.js';
import type { PushAccountStore } from '../accounts/push-account-store.js';
import { decodePushAccount, encodePushAccount } from '../accounts/push-account-text.js';
import type { KeyListState, KeyListStore } from '../key-list/key-list-state.js';
import { createMutex, type RunExclusive } from '../mutex.js';
import type { SeenNotifications } from '../notifications/seen-notifications.js';
import { decodeSeen, encodeSeen, withNotification } from '../notifications/seen-of-account.js';

/**
 * Text storage by name, compatible with `localStorage` and React Native's AsyncStorage. The accounts contain private
 * keys: on a phone, use a storage that encrypts with a system key (Keychain, Keystore).
 */
export interface TextStorage {
  /** Resolves with the text, or `null` if there is none. */
  getItem(name: string): string | null | Promise<string | null>;
  setItem(name: string, text: string): void | Promise<void>;
  removeItem(name: string): void | Promise<void>;
}

/** The four stores of a push client. */
export interface TextStores {
  readonly accounts: PushAccountStore;
  readonly seen: SeenNotifications;
  readonly forgotten: ForgottenAccountStore;
  readonly keyList: KeyListStore;
}

const accountsName = 'waxwing.accounts';
const forgottenName = 'waxwing.forgotten';
const keyListName = 'waxwing.key-list';
// 2 kB of text: some encrypted storages, such as expo-secure-store, have a limit of 2048 bytes.
const seenOfEachAccount = 150;
/** Shared by all stores of a storage: an app may create stores for each push, and two at once would lose changes. */
const turns = new WeakMap<TextStorage, RunExclusive>();

/**
 * Creates a push client's stores in one text storage: three texts, and one of at most 2 kB per account with the newest
 * 150 opened notifications. Changes to one `storage` object are serialized within this process, not between processes:
 * if an iOS extension opens notifications, let only the extension open them.
 */
export function createTextStores(storage: TextStorage): TextStores {
  const exclusively = turns.get(storage) ?? createMutex();
  turns.set(storage, exclusively);
  return {
    accounts: createTextPushAccountStore(storage, exclusively),
    seen: createTextSeenNotifications(storage, exclusively),
    forgotten: createTextForgottenAccountStore(storage, exclusively),
    keyList: {
      async get() {
        const text = await storage.getItem(keyListName);
        return text === null ? undefined : (JSON.parse(text) as KeyListState);
      },
      put: async (state) => storage.setItem(keyListName, JSON.stringify(state)),
    },
  };
}

function createTextPushAccountStore(storage: TextStorage, exclusively: RunExclusive): PushAccountStore {
  async function list(): Promise<readonly PushAccount[]> {
    const text = await storage.getItem(accountsName);
    return text === null ? [] : text.split('\n').map(decodePushAccount);
  }
  async function replace(accounts: readonly PushAccount[]): Promise<void> {
    if (accounts.length === 0) await storage.removeItem(accountsName);
    else await storage.setItem(accountsName, accounts.map(encodePushAccount).join('\n'));
  }
  const others = async (id: PushAccount['pushAccountId']) =>
    (await list()).filter(({ pushAccountId }) => pushAccountId !== id);
  return {
    list,
    get: async (id) => (await list()).find(({ pushAccountId }) => pushAccountId === id),
    put: (account) => exclusively(async () => replace([...(await others(account.pushAccountId)), account])),
    remove: (id) => exclusively(async () => replace(await others(id))),
  };
}

function createTextForgottenAccountStore(
  storage: TextStorage,
  exclusively: RunExclusive,
): ForgottenAccountStore {
  async function list(): Promise<readonly ForgottenAccount[]> {
    const text = await storage.getItem(forgottenName);
    const rows = text === null ? [] : parseJsonOrUndefined(text);
    return Array.isArray(rows) ? rows.flatMap((row) => decodeForgottenAccount(row) ?? []) : [];
  }
  async function replace(accounts: readonly ForgottenAccount[]): Promise<void> {
    if (accounts.length === 0) await storage.removeItem(forgottenName);
    else await storage.setItem(forgottenName, stringifyJson(accounts.map((account) => ({ ...account }))));
  }
  const others = async (id: PushAccountId) =>
    (await list()).filter(({ pushAccountId }) => pushAccountId !== id);
  return {
    list,
    put: (account) => exclusively(async () => replace([...(await others(account.pushAccountId)), account])),
    remove: (id) => exclusively(async () => replace(await others(id))),
  };
}

/** Returns `undefined` for a damaged entry, of which no server can be notified: it will find out by itself. */
function decodeForgottenAccount(row: JsonValue): ForgottenAccount | undefined {
  if (!isJsonObject(row)) return undefined;
  const { realmUrl, email, apiKey, forgottenAt } = row;
  const pushAccountId = parsePushAccountId(row.pushAccountId);
  if (
    pushAccountId === undefined ||
    typeof realmUrl !== 'string' ||
    typeof email !== 'string' ||
    typeof apiKey !== 'string' ||
    typeof forgottenAt !== 'number'
  ) {
    return undefined;
  }
  return { pushAccountId, realmUrl, email, apiKey, forgottenAt };
}

function createTextSeenNotifications(storage: TextStorage, exclusively: RunExclusive): SeenNotifications {
  const textName = (id: PushAccountId) => `waxwing.seen.${formatPushAccountId(id)}`;
  return {
    addIfNew: (notification) =>
      exclusively(async () => {
        const name = textName(notification.pushAccountId);
        const known = decodeSeen((await storage.getItem(name)) ?? '');
        const seen = withNotification(known, notification, seenOfEachAccount);
        if (seen === undefined) return false;
        await storage.setItem(name, encodeSeen(seen));
        return true;
      }),
    forget: (id) => exclusively(async () => storage.removeItem(textName(id))),
  };
}

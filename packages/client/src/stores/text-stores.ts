import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PushAccountId,
  parseClientDeviceId,
  parseJsonOrUndefined,
  parsePushAccountId,
  stringifyJson,
} from '@waxwing/protocol/phone';
import type {
  ForgottenAccount,
  ForgottenAccountStore,
  SealedRevocation,
} from '../accounts/forgotten-account.js';
import type { PushAccountStore } from '../accounts/push-account-store.js';
import { decodeKeyListState, type KeyListStore } from '../key-list/key-list-state.js';
import type { SeenNotifications } from '../notifications/seen-notifications.js';
import {
  changeTexts,
  createStoredTexts,
  requireTextStorage,
  type StoredTexts,
  type TextStorage,
} from './stored-texts.js';
import { createTextPushAccountStore } from './text-account-store.js';
import { createTextSeenNotifications } from './text-seen-notifications.js';

export type { TextStorage } from './stored-texts.js';

/** The four stores of a push client. */
export interface TextStores {
  readonly accounts: PushAccountStore;
  readonly seen: SeenNotifications;
  readonly forgotten: ForgottenAccountStore;
  readonly keyList: KeyListStore;
}

const forgottenName = 'waxwing.forgotten';
const keyListName = 'waxwing.key-list';
/**
 * Stores by storage. Clients of one storage share its stores, so that a sync also reports damage found by another
 * client.
 */
const storesOf = new WeakMap<TextStorage, TextStores>();

/**
 * Creates a push client's stores in one text storage. The stores use four texts, plus a text of at most 2 kB per
 * account for the newest 150 opened notifications. Unreadable parts of a damaged text are dropped, and the next
 * `RegistrationStatus.warning` names the text. Changes are serialized within this process and between the tabs of a
 * browser, but not between an app and its iOS extension. In such an app, open notifications only in the extension.
 *
 * @throws RangeError if the storage is missing a method.
 */
export function createTextStores(storage: TextStorage): TextStores {
  requireTextStorage(storage);
  const known = storesOf.get(storage);
  if (known !== undefined) return known;
  const texts = createStoredTexts(storage);
  const stores = {
    accounts: createTextPushAccountStore(texts),
    seen: createTextSeenNotifications(texts),
    forgotten: createTextForgottenAccountStore(texts),
    keyList: createTextKeyListStore(texts),
  };
  storesOf.set(storage, stores);
  return stores;
}

function createTextKeyListStore(texts: StoredTexts): KeyListStore {
  return {
    async get() {
      const text = await texts.read(keyListName);
      const state = text === undefined ? undefined : decodeKeyListState(text);
      if (text !== undefined && state === undefined) texts.noteDamage(keyListName, text);
      return state;
    },
    put: (state) => texts.write(keyListName, JSON.stringify(state)),
  };
}

function createTextForgottenAccountStore(texts: StoredTexts): ForgottenAccountStore {
  async function list(): Promise<readonly ForgottenAccount[]> {
    const text = await texts.read(forgottenName);
    if (text === undefined) return [];
    const rows = parseJsonOrUndefined(text);
    const accounts = Array.isArray(rows) ? rows.flatMap((row) => decodeForgottenAccount(row) ?? []) : [];
    if (!Array.isArray(rows) || accounts.length < rows.length) texts.noteDamage(forgottenName, text);
    return accounts;
  }
  async function replace(accounts: readonly ForgottenAccount[]): Promise<void> {
    if (accounts.length === 0) await texts.remove(forgottenName);
    else await texts.write(forgottenName, stringifyJson(accounts.map(encodeForgottenAccount)));
  }
  const others = async (id: PushAccountId) =>
    (await list()).filter(({ pushAccountId }) => pushAccountId !== id);
  return {
    async list() {
      const accounts = await list();
      if (texts.isDamaged(forgottenName)) await changeTexts(async () => replace(await list()));
      return accounts;
    },
    put: (account) => changeTexts(async () => replace([...(await others(account.pushAccountId)), account])),
    remove: (id) => changeTexts(async () => replace(await others(id))),
  };
}

function encodeForgottenAccount({ revocations = [], ...account }: ForgottenAccount): JsonObject {
  if (revocations.length === 0) return account;
  return { ...account, revocations: revocations.map((revocation) => ({ ...revocation })) };
}

/**
 * Decodes a sign-out. Returns `undefined` for a damaged entry. The server of a damaged entry cannot be notified, but it
 * drops the registration once the phone stops renewing it.
 */
function decodeForgottenAccount(row: JsonValue): ForgottenAccount | undefined {
  if (!isJsonObject(row)) return undefined;
  const { realmUrl, email, apiKey, forgottenAt } = row;
  const pushAccountId = parsePushAccountId(row.pushAccountId);
  const deviceId = parseClientDeviceId(row.deviceId);
  if (
    pushAccountId === undefined ||
    typeof realmUrl !== 'string' ||
    typeof email !== 'string' ||
    typeof apiKey !== 'string' ||
    typeof forgottenAt !== 'number'
  ) {
    return undefined;
  }
  const device = deviceId === undefined ? {} : { deviceId };
  const revocations = Array.isArray(row.revocations) ? row.revocations.flatMap(decodeRevocation) : [];
  const sealed = revocations.length === 0 ? {} : { revocations };
  return { pushAccountId, ...device, realmUrl, email, apiKey, forgottenAt, ...sealed };
}

function decodeRevocation(row: JsonValue): readonly SealedRevocation[] {
  if (!isJsonObject(row)) return [];
  const { bouncerPublicKey, encryptedPushRevocation } = row;
  if (typeof bouncerPublicKey !== 'string' || typeof encryptedPushRevocation !== 'string') return [];
  return [{ bouncerPublicKey, encryptedPushRevocation }];
}

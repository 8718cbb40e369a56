import { loadWasmSodium, type Sodium } from '@waxwing/sodium';
import type { Random } from './accounts/create-push-account.js';
import {
  createMemoryForgottenAccountStore,
  type ForgottenAccountStore,
} from './accounts/forgotten-account.js';
import type { AccountIdentity } from './accounts/push-account.js';
import type { PushAccountStore } from './accounts/push-account-store.js';
import { signOutTimesOf } from './accounts/sign-out-times.js';
import { createChatApi } from './chat-api/chat-api.js';
import type { Fetch } from './chat-api/fetch.js';
import { type BouncerKeyChooser, createBuiltInKey } from './key-list/bouncer-key-choice.js';
import { createKeyListFollower } from './key-list/key-list-follower.js';
import type { KeyListStore } from './key-list/key-list-state.js';
import { type OpenedNotification, openNotification } from './notifications/open-notification.js';
import type { ReceivedPush } from './notifications/received-push.js';
import type { SeenNotifications } from './notifications/seen-notifications.js';
import type { PushToken } from './push-token.js';
import { createRegistrar, type Registrar } from './registration/registrar.js';
import { createSignOuts } from './registration/sign-outs.js';
import {
  requireFunctions,
  requireKey,
  requirePresent,
  requireRecoveryKey,
  requireStore,
} from './require-options.js';
import type { PhoneClock } from './server-clock.js';
import { checkAccounts, checkForgotten, checkSeen } from './stores/checked-stores.js';
import { requireHttpsUrl } from './web-origin.js';

/** Options of {@link createPushClient}. */
export interface PushClientOptions {
  /** The relay's public key built into the app: base64 of 32 bytes. */
  readonly bouncerPublicKey: string;
  /**
   * Returns the current push token from the phone's operating system, or `undefined` if there is none, for example
   * because the user has not allowed notifications.
   */
  readonly pushToken: () => PushToken | undefined | Promise<PushToken | undefined>;
  /** The phone's account table; contains private keys. `createTextStores` creates one from a text storage. */
  readonly accounts: PushAccountStore;
  /** Replay protection for opened notifications. `createTextStores` creates one from a text storage. */
  readonly seen: SeenNotifications;
  /** Stores sign-outs until their servers are notified. Default: in memory only. */
  readonly forgotten?: ForgottenAccountStore;
  /**
   * The relay's URL, such as `https://push.example.com`. If set, the client also sends sign-outs directly to the relay,
   * so that they do not depend on the server. By default, sign-outs go only through the server.
   */
  readonly relayUrl?: string;
  /** Follows the relay's signed key lists. Without it, only the built-in key is used. */
  readonly keyList?: KeyListOptions;
  /** Default: the platform's `fetch`. */
  readonly fetch?: Fetch;
  /** Unix milliseconds according to the device's clock; default `Date.now`. */
  readonly clock?: PhoneClock;
  /** Default: libsodium's random bytes. */
  readonly random?: Random;
  /** Default: libsodium compiled to WebAssembly. */
  readonly sodium?: Sodium;
}

/** Options for following the relay's key lists (docs/protocol.md#following-key-lists). */
export interface KeyListOptions {
  /** The key that signs the relay's key lists: base64 of 32 bytes, pinned in the app. */
  readonly signingPublicKey: string;
  /**
   * The relay's offline recovery key, if the relay has one: base64 of 32 bytes, pinned in the app. It can endorse a new
   * signing key if the old one is stolen.
   */
  readonly recoveryPublicKey?: string | undefined;
  /** Persists the newest verified list. `createTextStores` creates one from a text storage. */
  readonly store: KeyListStore;
}

/** An account with its user's credentials. */
export interface SignedInAccount extends AccountIdentity {
  readonly email: string;
  readonly apiKey: string;
}

/** Push client for all accounts of an app on one phone. */
export interface PushClient {
  /**
   * Returns the registrar for one account.
   *
   * @throws RangeError if a field is missing (named in the message), `userId` is not an integer, or `realmUrl` is not
   * an https URL. Plain http is allowed for loopback addresses only.
   */
  registrar(account: SignedInAccount): Registrar;
  /**
   * Opens a push from FCM, APNs or Web Push, for any account of the app. Never throws because of the push's contents;
   * store errors propagate to the caller.
   */
  open(received: ReceivedPush): Promise<OpenedNotification>;
}

/**
 * Sets up push for an app. Loads libsodium (WebAssembly) unless `sodium` is given.
 *
 * @throws RangeError that names the invalid option: a missing option, a store without the required methods, a key that
 * is not base64 of 32 bytes, or a `relayUrl` that is not https.
 */
export async function createPushClient(options: PushClientOptions): Promise<PushClient> {
  requirePresent(options, ['pushToken', 'accounts', 'seen']);
  requireFunctions(options, ['fetch', 'clock', 'random']);
  const { pushToken, clock = Date.now } = options;
  const seen = checkSeen(options.seen);
  if (typeof pushToken !== 'function') {
    throw new RangeError('pushToken must be a function that returns the phone’s token.');
  }
  const accounts = forgettingSeen(options.accounts, seen);
  const sodium = options.sodium ?? (await loadWasmSodium());
  const random = options.random ?? ((length) => sodium.randomBytes(length));
  const bouncerKeys = createBouncerKeys(options, sodium, clock);
  const forgotten = checkForgotten(options.forgotten ?? createMemoryForgottenAccountStore());
  const connection = options.fetch === undefined ? { clock } : { clock, fetch: options.fetch };
  const relayUrl = options.relayUrl === undefined ? undefined : requireHttpsUrl('relayUrl', options.relayUrl);
  const signOuts = createSignOuts({ ...connection, forgotten, accounts, sodium, relayUrl });
  const shared = {
    sodium,
    random,
    clock,
    accounts,
    seen,
    forgotten,
    bouncerKeys,
    pushToken,
    signOuts,
  };

  return {
    registrar(account) {
      const identity = requireIdentity(account);
      const { email, apiKey } = account;
      const signIn = { realmUrl: identity.realmUrl, email, apiKey };
      const api = createChatApi({ ...signIn, ...connection });
      return createRegistrar({ ...shared, identity, api, signIn });
    },
    open: (received) => openNotification({ sodium, accounts, seen }, received),
  };
}

/**
 * Adds the optional methods to an account table, and makes `remove` also delete the account's replay protection state.
 */
function forgettingSeen(given: PushAccountStore, seen: SeenNotifications): Required<PushAccountStore> {
  const accounts = checkAccounts(given);
  const { noteSignOut, lastSignOut } = signOutTimesOf(given);
  return {
    get: (id) => accounts.get(id),
    put: (account) => accounts.put(account),
    async addIfAbsent(account) {
      if (accounts.addIfAbsent !== undefined) return accounts.addIfAbsent(account);
      await accounts.put(account);
      return account;
    },
    list: () => accounts.list(),
    takeWarning: () => accounts.takeWarning?.(),
    noteSignOut,
    lastSignOut: async (account) => (await lastSignOut(account)) ?? undefined,
    async remove(id) {
      // Deletes the account first. As long as its key pair exists, replay protection needs the seen state.
      await accounts.remove(id);
      await seen.forget(id);
    },
  };
}

function createBouncerKeys(
  { bouncerPublicKey, keyList }: PushClientOptions,
  sodium: Sodium,
  deviceClock: PhoneClock,
): BouncerKeyChooser {
  if (!sodium.isUsablePublicKey(requireKey('bouncerPublicKey', bouncerPublicKey))) {
    throw new RangeError('bouncerPublicKey is a low-order point, so nothing can be sealed to it.');
  }
  if (keyList === undefined) return createBuiltInKey(bouncerPublicKey);
  requirePresent(keyList, ['store'], 'keyList.');
  const { signingPublicKey, recoveryPublicKey, store } = keyList;
  requireKey('keyList.signingPublicKey', signingPublicKey);
  if (recoveryPublicKey !== undefined) requireRecoveryKey('keyList.recoveryPublicKey', recoveryPublicKey);
  requireStore('keyList.store', store, ['get', 'put']);
  return createKeyListFollower({
    builtInPublicKey: bouncerPublicKey,
    signingPublicKey,
    recoveryPublicKey,
    store,
    verify: sodium.verifyDetached,
    deviceClock,
  });
}

function requireIdentity(account: SignedInAccount): AccountIdentity {
  requirePresent(account, ['realmUrl', 'userId', 'email', 'apiKey']);
  const { realmUrl, userId } = account;
  if (typeof userId !== 'bigint' && !Number.isSafeInteger(userId)) {
    const given = typeof userId === 'string' ? `the string "${userId}"` : String(userId);
    throw new RangeError(`userId must be an integer, but is ${given}.`);
  }
  return { realmUrl, userId };
}

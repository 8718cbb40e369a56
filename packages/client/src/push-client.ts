import { loadWasmSodium, type Sodium } from '@waxwing/sodium';
import type { Random } from './accounts/create-push-account.js';
import {
  createMemoryForgottenAccountStore,
  type ForgottenAccountStore,
} from './accounts/forgotten-account.js';
import { type AccountIdentity, isSameAccount } from './accounts/push-account.js';
import type { PushAccountStore } from './accounts/push-account-store.js';
import type { PushToken } from './build-registration.js';
import { createChatApi } from './chat-api/chat-api.js';
import type { Fetch } from './chat-api/fetch.js';
import { type BouncerKeyChooser, createBuiltInKey } from './key-list/bouncer-key-choice.js';
import { createKeyListFollower } from './key-list/key-list-follower.js';
import type { KeyListStore } from './key-list/key-list-state.js';
import { type OpenedNotification, openNotification } from './notifications/open-notification.js';
import type { ReceivedPush } from './notifications/received-push.js';
import type { SeenNotifications } from './notifications/seen-notifications.js';
import { createTurns } from './one-after-another.js';
import type { RegistrationStatus } from './registration/registration-status.js';
import { createSignOuts } from './registration/sign-outs.js';
import { syncRegistration } from './registration/sync-registration.js';
import { requireKey, requirePresent, requireRecoveryKey } from './require-options.js';
import type { PhoneClock } from './server-clock.js';
import { webOriginOf } from './web-origin.js';

export interface PushClientOptions {
  /** The relay's public key that the app is built with: base64 of 32 bytes. */
  readonly bouncerPublicKey: string;
  /** What the phone's system gives the app as its push token at this moment; `undefined` when it gives none. */
  readonly pushToken: () => PushToken | undefined | Promise<PushToken | undefined>;
  readonly accounts: PushAccountStore;
  readonly seen: SeenNotifications;
  /** Accounts that were signed out while their server could not be told; in memory alone where nothing is given. */
  readonly forgotten?: ForgottenAccountStore;
  /** Follows the relay's signed key lists; without it the key in the app is the only one. */
  readonly keyList?: KeyListOptions;
  /** The platform's own by default, as all that follow. */
  readonly fetch?: Fetch;
  /** Milliseconds since 1970 by the device's clock. */
  readonly clock?: PhoneClock;
  readonly random?: Random;
  readonly sodium?: Sodium;
}

export interface KeyListOptions {
  /** The key that signs the relay's key lists: base64 of 32 bytes, pinned in the app. */
  readonly signingPublicKey: string;
  /**
   * The offline key that can endorse another signing key after a theft: base64 of 32 bytes, pinned beside it, if the
   * relay has one.
   */
  readonly recoveryPublicKey?: string | undefined;
  readonly store: KeyListStore;
}

/** An account, and how its user signs in. */
export interface SignedInAccount extends AccountIdentity {
  readonly email: string;
  readonly apiKey: string;
}

export interface SyncOptions {
  /** How long to wait for the relay's verdict on a registration; 20 s by default, 0 not to wait. */
  readonly settleTimeoutMilliseconds?: number;
}

/** Keeps one account registered for notifications. */
export interface Registrar {
  /**
   * Brings the account from any state to the right one: never registered, other token, failed, older than 30 days, other
   * bouncer key. Call it when the app starts, when the token changes, and at a `push_device` event; it registers nothing
   * when nothing is to be done. Calls for one account run one after the other.
   *
   * Refusals and missing answers of the server are told by the status. It throws `RangeError` for a token that no relay
   * takes, and what the stores or `pushToken` throw.
   */
  sync(options?: SyncOptions): Promise<RegistrationStatus>;
  /**
   * Asks the server for a notification of type `test` to this phone.
   * @throws ApiError `NO_ACTIVE_PUSH_DEVICE` when the account is not registered; UnreachableError.
   */
  sendTestNotification(): Promise<void>;
  /**
   * Drops the account's key pair, for a sign-out: what still arrives for it can no longer be opened. Then the server is
   * told, for which it waits up to 10 s; where that fails, it is tried again beside the next `sync` of any account, for
   * 30 days. Call it before the API key is made invalid. It throws what the stores throw.
   */
  forget(): Promise<void>;
}

/** Push on one phone: all accounts of the app. */
export interface PushClient {
  /**
   * The registrar of one account.
   * @throws RangeError when `realmUrl` is not an https URL (plain http is taken for this machine alone), or `userId` no
   * integer; it names a field that is missing.
   */
  registrar(account: SignedInAccount): Registrar;
  /** Opens what FCM or APNs delivered, for whichever account it is. Whatever was received, it does not throw. */
  open(received: ReceivedPush): Promise<OpenedNotification>;
}

const defaultSettleTimeoutMilliseconds = 20_000;

/**
 * Sets up push for an app; loads libsodium.
 * @throws RangeError naming the option that is missing, or the key that is not base64 of 32 bytes.
 */
export async function createPushClient(options: PushClientOptions): Promise<PushClient> {
  requirePresent(options, ['pushToken', 'accounts', 'seen']);
  const { seen, pushToken, clock = Date.now } = options;
  const accounts = forgettingSeen(options.accounts, seen);
  const sodium = options.sodium ?? (await loadWasmSodium());
  const random = options.random ?? ((length) => sodium.randomBytes(length));
  const bouncerKeys = createBouncerKeys(options, sodium, clock);
  const inTurn = createTurns();
  const { forgotten = createMemoryForgottenAccountStore() } = options;
  const connection = options.fetch === undefined ? { clock } : { clock, fetch: options.fetch };
  const inTurnOf = <T>({ realmUrl, userId }: AccountIdentity, task: () => Promise<T>) =>
    inTurn(`${webOriginOf(realmUrl)} ${userId}`, task);
  const signOuts = createSignOuts({ ...connection, forgotten, accounts, inTurnOf });

  return {
    registrar(account) {
      const identity = requireIdentity(account);
      const { email, apiKey } = account;
      const api = createChatApi({ realmUrl: identity.realmUrl, email, apiKey, ...connection });
      const context = { sodium, random, clock, accounts, bouncerKeys, pushToken, identity, api };
      const signIn = { realmUrl: identity.realmUrl, email, apiKey };
      const rows = async () => (await accounts.list()).filter((row) => isSameAccount(row, identity));

      return {
        async sync({ settleTimeoutMilliseconds = defaultSettleTimeoutMilliseconds } = {}) {
          const synced = inTurnOf(identity, async () => {
            await signOuts.finish(await rows());
            return syncRegistration(context, settleTimeoutMilliseconds);
          });
          signOuts.tellBeside();
          return synced;
        },
        async sendTestNotification() {
          const [row] = await rows();
          if (row === undefined)
            throw new Error('This account is not registered on this phone: call sync first.');
          await api.sendTestNotification(row.pushAccountId);
        },
        async forget() {
          await inTurnOf(identity, async () => signOuts.forget(await rows(), signIn));
          await signOuts.tell();
        },
      };
    },
    open: (received) => openNotification({ sodium, accounts, seen }, received),
  };
}

/** Removes with an account what is remembered of its notifications, which open no more. */
function forgettingSeen(accounts: PushAccountStore, seen: SeenNotifications): PushAccountStore {
  return {
    get: (id) => accounts.get(id),
    put: (account) => accounts.put(account),
    list: () => accounts.list(),
    async remove(id) {
      // Never before the key pair: a replayed notification would open in between.
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
  requireKey('bouncerPublicKey', bouncerPublicKey);
  if (keyList === undefined) return createBuiltInKey(bouncerPublicKey);
  const { signingPublicKey, recoveryPublicKey, store } = keyList;
  requirePresent(keyList, ['store'], 'keyList.');
  requireKey('keyList.signingPublicKey', signingPublicKey);
  if (recoveryPublicKey !== undefined) requireRecoveryKey('keyList.recoveryPublicKey', recoveryPublicKey);
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
    const given = typeof userId === 'string' ? `the text "${userId}"` : String(userId);
    throw new RangeError(`userId must be an integer, but is ${given}.`);
  }
  return { realmUrl, userId };
}

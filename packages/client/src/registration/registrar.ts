import { exclusivelyOfAccount } from '../accounts/account-lock.js';
import type { ForgottenAccount } from '../accounts/forgotten-account.js';
import { rowsOf } from '../accounts/push-account.js';
import { generationOfAccount } from './choose-generation.js';
import { mergeRows } from './merge-rows.js';
import type { RegistrarContext } from './registrar-context.js';
import { type RegistrationStatus, registrationStatus } from './registration-status.js';
import { guardSignOut, SignedOutError } from './sign-out-guard.js';
import type { SignOuts } from './sign-outs.js';
import type { SyncOptions } from './sync-options.js';
import { syncRegistration } from './sync-registration.js';

/** Keeps one account registered for notifications. */
export interface Registrar {
  /**
   * Brings the account's registration up to date from any state: never registered, failed, registration or push key
   * older than 30 days, changed token, new relay key, upgraded server. Idempotent: registers nothing if the
   * registration is up to date. Call `sync` when the app starts, when the token changes, and on each `push_device` or
   * `device` event. Calls for one account are serialized.
   *
   * Returns refusals and network failures as a status. After `forget` the status is `forgotten`, and nothing is
   * registered: create a new registrar when the user signs in again.
   *
   * @throws RangeError for a token that no relay accepts; errors from the stores and from `pushToken`.
   */
  sync(options?: SyncOptions): Promise<RegistrationStatus>;
  /**
   * Requests a `test` notification for this phone.
   *
   * @throws ApiError `NO_ACTIVE_PUSH_DEVICE` if the account has no active registration; UnreachableError if the server
   * cannot be reached; Error before the first `sync`.
   */
  sendTestNotification(): Promise<void>;
  /**
   * Signs the account out of push. First deletes its key pair, so that pushes in flight can no longer be opened. Then
   * notifies the server, which takes at most 10 s. If the notification fails, the next `sync` of any account retries
   * it, for up to 30 days. Call `forget` before the API key is revoked.
   *
   * @throws errors from the stores.
   */
  forget(): Promise<void>;
}

export interface RegistrarOptions extends RegistrarContext {
  readonly signOuts: SignOuts;
  readonly signIn: Pick<ForgottenAccount, 'realmUrl' | 'email' | 'apiKey'>;
}

const defaultSettleTimeoutMilliseconds = 20_000;
const forgottenWarning =
  'forget was called after this registrar was created, here or in another tab: create a new registrar when the user signs in again.';

/** Creates the registrar for one account. */
export function createRegistrar(options: RegistrarOptions): Registrar {
  const { api, clock, identity, signIn, signOuts } = options;
  const guard = guardSignOut(options.accounts, identity);
  const { accounts } = guard;
  const rows = async () => rowsOf(await accounts.list(), identity);

  /**
   * Syncs while holding the account's lock. If the account is signed out during the sync, returns the sign-outs to send
   * to servers instead of a status.
   */
  async function syncExclusively(
    given: Required<SyncOptions>,
  ): Promise<RegistrationStatus | readonly ForgottenAccount[]> {
    if (await guard.isSignedOut()) return forgottenStatus();
    const status = await syncUnlessSignedOut({ ...options, accounts }, given).catch(undefinedIfSignedOut);
    if (status !== undefined && !(await guard.isSignedOut())) return status;
    // The sign-out did not see what this sync wrote and sent afterwards, so forget that data as well.
    const written = guard.lastWritten();
    return signOuts.forget(written === undefined ? [] : [written], signIn);
  }

  return {
    async sync({ settleTimeoutMilliseconds = defaultSettleTimeoutMilliseconds, retryNow = false } = {}) {
      const given = { settleTimeoutMilliseconds, retryNow };
      const status = await exclusivelyOfAccount(identity, () => syncExclusively(given));
      if ('code' in status) return status;
      await signOuts.notify(status);
      return forgottenStatus();
    },
    async sendTestNotification() {
      const [row] = await rows();
      if (row === undefined)
        throw new Error('This account is not registered on this phone: call sync first.');
      await generationOfAccount(row).requestTest(api, row);
    },
    async forget() {
      // Recorded immediately, so that a sync that is running here or in another tab stops at its next write.
      const noted = options.accounts.noteSignOut(identity, clock());
      const removed = exclusivelyOfAccount(identity, async () => {
        await noted;
        await signOuts.forget(await rows(), signIn);
      });
      await Promise.all([noted, removed]);
      await signOuts.notify();
    },
  };
}

/** Runs a sync. @throws SignedOutError if the sync writes after a sign-out. */
async function syncUnlessSignedOut(
  options: RegistrarOptions,
  given: Required<SyncOptions>,
): Promise<RegistrationStatus> {
  const { accounts, identity, seen, signIn, signOuts } = options;
  const rows = async () => rowsOf(await accounts.list(), identity);
  await signOuts.finish(await rows());
  // Merges rows that clients added concurrently. Otherwise every notification would arrive once per row.
  await signOuts.forget(await mergeRows({ accounts, seen }, await rows()), signIn);
  signOuts.notifyConcurrently();
  const status = await syncRegistration(options, given);
  return withWarning(status, accounts.takeWarning());
}

function forgottenStatus(): RegistrationStatus {
  return registrationStatus('forgotten', { warning: forgottenWarning });
}

function undefinedIfSignedOut(error: unknown): undefined {
  if (!(error instanceof SignedOutError)) throw error;
}

function withWarning(status: RegistrationStatus, warning: string | undefined): RegistrationStatus {
  if (warning === undefined) return status;
  const warnings = status.warning === undefined ? [warning] : [status.warning, warning];
  return registrationStatus(status.code, { ...status, warning: warnings.join(' ') });
}

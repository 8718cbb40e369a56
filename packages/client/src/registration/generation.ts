import type { ForgottenAccount } from '../accounts/forgotten-account.js';
import type { PushAccount } from '../accounts/push-account.js';
import type { ChatApi } from '../chat-api/chat-api.js';
import type { RegistrarContext } from './registrar-context.js';
import type { RegistrationStatus } from './registration-status.js';
import type { SyncRun } from './sync-run.js';

/** Operations on registrations of one generation of the protocol (docs/protocol.md#two-generations). */
export interface RegistrationGeneration {
  /**
   * Brings an account's registration up to date and waits for the relay's decision. If the account is registered in the
   * other generation, moves it to this one.
   *
   * @throws ApiError, UnreachableError; errors from the stores.
   */
  bringUpToDate(context: RegistrarContext, run: SyncRun): Promise<RegistrationStatus>;
  /** Returns whether the server may have a registration of this generation for the account. */
  mayBeKnown(account: PushAccount): boolean;
  /** Requests a test notification for the account. @throws ApiError, UnreachableError. */
  requestTest(api: ChatApi, account: PushAccount): Promise<void>;
  /** Asks the server to delete an account's registration of this generation. @throws ApiError, UnreachableError. */
  remove(api: ChatApi, account: ForgottenAccount): Promise<void>;
}

import type { ForgottenAccount } from '../accounts/forgotten-account.js';
import type { PushAccount } from '../accounts/push-account.js';
import type { ChatApi } from '../chat-api/chat-api.js';
import type { RegistrarContext } from './registrar-context.js';
import type { RegistrationStatus } from './registration-status.js';
import type { SyncRun } from './sync-run.js';

/** Operations on registrations of one generation of the protocol (docs/protocol.md#two-generations). */
export interface RegistrationGeneration {
  /**
   * Brings an account's registration up to date, moves it from the other generation to this one, and waits for the relay's
   * decision.
   *
   * @throws ApiError, UnreachableError; errors of the stores.
   */
  bringUpToDate(context: RegistrarContext, run: SyncRun): Promise<RegistrationStatus>;
  /** Returns whether the server may have a registration of this generation for the account. */
  mayBeKnown(account: PushAccount): boolean;
  /** Requests a test notification for the account. @throws ApiError, UnreachableError. */
  requestTest(api: ChatApi, account: PushAccount): Promise<void>;
  /**
   * Requests that the server delete an account's registration of this generation. @throws ApiError, UnreachableError.
   */
  remove(api: ChatApi, account: ForgottenAccount): Promise<void>;
}

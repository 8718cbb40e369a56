import { rowsOf } from '../accounts/push-account.js';
import { verifyWrites } from '../accounts/verify-writes.js';
import { ApiError, UnreachableError } from '../chat-api/api-error.js';
import type { ChatApi } from '../chat-api/chat-api.js';
import { requirePushToken } from '../require-push-token.js';
import { generationOfServer } from './choose-generation.js';
import type { RegistrarContext } from './registrar-context.js';
import { type RegistrationStatus, registrationStatus } from './registration-status.js';
import { statusOfError } from './status-of-error.js';
import type { SyncOptions } from './sync-options.js';
import { wrongAccountStatus } from './wrong-account-status.js';

/** Brings an account's registration up to date and returns its status; see `Registrar.sync`. */
export async function syncRegistration(
  given: RegistrarContext,
  { settleTimeoutMilliseconds, retryNow }: Required<SyncOptions>,
): Promise<RegistrationStatus> {
  const context = { ...given, accounts: verifyWrites(given.accounts) };
  const pushToken = await context.pushToken();
  if (pushToken === undefined) return registrationStatus('no-token');
  requirePushToken(pushToken);
  try {
    const queue = await context.api.registerEventQueue(['push_device', 'device']);
    const run = { pushToken, queue, retryNow, deadline: context.clock() + settleTimeoutMilliseconds };
    const [account] = rowsOf(await context.accounts.list(), context.identity);
    const generation = generationOfServer(queue.featureLevel, account);
    const status =
      wrongAccountStatus(context.identity, queue) ?? (await generation.bringUpToDate(context, run));
    await deleteQueue(context.api, queue.queueId);
    return status;
  } catch (error) {
    return statusOfError(error);
  }
}

async function deleteQueue(api: ChatApi, queueId: string): Promise<void> {
  try {
    await api.deleteEventQueue(queueId);
  } catch (error) {
    // Ignored, because the registration has been sent and the server deletes idle queues on its own.
    if (!(error instanceof ApiError || error instanceof UnreachableError)) throw error;
  }
}

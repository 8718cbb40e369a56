import type { JsonObject } from '@waxwing/protocol';
import type { ServerContext } from '../../../context.js';
import type { Requester } from '../../../platform/authentication/authenticate.js';
import type { ServerTransaction } from '../../../tables.js';
import { type FolderRow, listFolders, lockFolders } from '../../channels/folders/folder-store.js';

interface Changed<Result> {
  readonly result: Result;
  /** `undefined` if nothing changed. */
  readonly event: JsonObject | undefined;
}

/**
 * Runs `change` on the channel folders under an exclusive lock, and publishes the resulting event to all users.
 * @throws any error that `change` throws.
 */
export function changeFolders<Result>(
  { publish }: Pick<ServerContext, 'publish'>,
  actor: Requester,
  change: (transaction: ServerTransaction, folders: readonly FolderRow[]) => Promise<Changed<Result>>,
): Promise<Result> {
  return actor.change(async (transaction) => {
    await lockFolders(transaction);
    const { result, event } = await change(transaction, await listFolders(transaction.db));
    if (event !== undefined) {
      await publish(transaction, [{ event, audience: 'everyone' }]);
    }
    return result;
  });
}

import { lockExclusive } from '@waxwing/storage';
import type { ServerContext } from '../../context.js';
import type { Requester } from '../../platform/authentication/authenticate.js';
import type { ServerTransaction } from '../../tables.js';
import { type LinkifierRecord, readLinkifiers } from './linkifier-store.js';

/**
 * Runs `change` on the linkifiers under an exclusive lock. Publishes the new list to all clients that support URL
 * templates, and makes all processes render messages with the new list. Returns the result of `change`.
 * @throws any error that `change` throws.
 */
export function changeLinkifiers<Result>(
  { linkifiers, publish }: Pick<ServerContext, 'linkifiers' | 'publish'>,
  actor: Requester,
  change: (transaction: ServerTransaction, all: readonly LinkifierRecord[]) => Promise<Result>,
): Promise<Result> {
  return actor.change(async (transaction) => {
    const { db } = transaction;
    await lockExclusive(db, 'linkifiers');
    const result = await change(transaction, await readLinkifiers(db));
    const event = { type: 'realm_linkifiers', realm_linkifiers: await readLinkifiers(db) };
    const onlyFor = { capability: 'linkifier_url_template', isLocked: true } as const;
    await publish(transaction, [{ event, audience: 'everyone', onlyFor }]);
    await linkifiers.noteChange(transaction);
    return result;
  });
}

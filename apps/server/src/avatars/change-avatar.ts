import type { ServerContext } from '../context.js';
import type { ServerTransaction } from '../tables.js';
import { listAvatars, type Upload } from '../uploads/upload-store.js';
import { withdrawUploads } from '../uploads/withdraw-uploads.js';
import type { UserDetails } from '../users/user-details.js';
import { eventsOfPicture } from '../users/user-events.js';

/** A user with another picture, and the pictures that are the user's no more: their bytes are to be removed. */
export interface ChangedAvatar {
  readonly user: UserDetails;
  readonly withdrawn: readonly Upload[];
}

/** Where clients find the picture of this path, on this server. */
export function avatarAddress(path: string): string {
  return `/user_avatars/${path}`;
}

/**
 * Gives a locked user the picture of this path, or the provider's where none is named; whoever may know of the user is
 * told. Nothing happens where the user has the provider's already.
 */
export async function changeAvatar(
  transaction: ServerTransaction,
  self: UserDetails,
  pathId: string | undefined,
  { clock, publish, realm }: Pick<ServerContext, 'clock' | 'publish' | 'realm'>,
): Promise<ChangedAvatar> {
  if (pathId === undefined && self.avatarUrl === undefined) return { user: self, withdrawn: [] };
  const { db } = transaction;
  const avatarUrl = pathId === undefined ? undefined : avatarAddress(pathId);
  const user = { ...self, avatarUrl, avatarVersion: self.avatarVersion + 1 };
  await db
    .updateTable('users')
    .set({ avatar_url: avatarUrl ?? null, avatar_version: user.avatarVersion })
    .where('id', '=', self.id)
    .execute();
  const withdrawn = (await listAvatars(db, self.id)).filter((avatar) => avatar.pathId !== pathId);
  await withdrawUploads(
    transaction,
    withdrawn.map(({ id }) => id),
    clock(),
  );
  await publish(transaction, await eventsOfPicture(db, user, realm));
  return { user, withdrawn };
}

import type { ServerContext } from '../../context.js';
import type { UserDetails } from '../../people/users/user-details.js';
import { eventsOfPicture } from '../../people/users/user-events.js';
import type { ServerTransaction } from '../../tables.js';
import { listAvatars, type Upload } from '../uploads/upload-store.js';
import { withdrawUploads } from '../uploads/withdraw-uploads.js';

/** The result of an avatar change: the updated user, and the replaced uploads. The caller must delete their files. */
export interface ChangedAvatar {
  readonly user: UserDetails;
  readonly withdrawn: readonly Upload[];
}

/** Returns the URL path under which this server serves an avatar. */
export function avatarAddress(path: string): string {
  return `/user_avatars/${path}`;
}

/**
 * Sets the avatar of a locked user to the upload at `pathId`, or to the avatar provider's picture if `pathId` is
 * `undefined`. Publishes an event to users who can see the user. Does nothing if the user already has the provider's
 * picture.
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
  await publish(transaction, eventsOfPicture(db, user, realm));
  return { user, withdrawn };
}

import { createHash } from 'node:crypto';
import type { JsonObject } from '@waxwing/protocol';

/** The sizes of the avatar provider's pictures. */
type AvatarSize = 'usual' | 'medium';

/**
 * Returns the avatar provider's URL for an address. Pass the address that every reader sees: the URL contains a
 * digest, which would let readers confirm guesses of a hidden address.
 */
export function providerAvatarUrl(shownAddress: string, version: number, size: AvatarSize = 'usual'): string {
  const digest = createHash('md5').update(shownAddress.trim().toLowerCase()).digest('hex');
  const wanted = size === 'medium' ? '&s=500' : '';
  return `https://secure.gravatar.com/avatar/${digest}?d=identicon${wanted}&version=${version}`;
}

/** A user's avatar: the URL of an uploaded avatar, and the version, which increases with each change. */
interface Pictured {
  readonly avatarUrl: string | undefined;
  readonly avatarVersion: number;
}

/**
 * Builds the avatar fields of a user: source (`G` provider, `U` uploaded) and URLs. An uploaded avatar has one size.
 */
export function writePicture(
  shownAddress: string,
  { avatarUrl, avatarVersion }: Pictured,
): {
  readonly avatar_source: 'G' | 'U';
  readonly avatar_url: string;
  readonly avatar_url_medium: string;
} {
  return {
    avatar_source: avatarUrl === undefined ? 'G' : 'U',
    avatar_url: avatarUrl ?? providerAvatarUrl(shownAddress, avatarVersion),
    avatar_url_medium: avatarUrl ?? providerAvatarUrl(shownAddress, avatarVersion, 'medium'),
  };
}

/** Builds the event fields for a changed avatar. */
export function writeNewPicture(shownAddress: string, user: Pictured): JsonObject {
  return { ...writePicture(shownAddress, user), avatar_version: user.avatarVersion };
}

import { createHash } from 'node:crypto';
import type { JsonObject } from '@waxwing/protocol';

/** The sizes in which pictures are had from their provider. */
type AvatarSize = 'usual' | 'medium';

/**
 * Where the provider has the picture of an address. It is asked with the address that everybody is shown: a digest of a
 * hidden one could be held against guesses.
 */
export function providerAvatarUrl(shownAddress: string, version: number, size: AvatarSize = 'usual'): string {
  const digest = createHash('md5').update(shownAddress.trim().toLowerCase()).digest('hex');
  const wanted = size === 'medium' ? '&s=500' : '';
  return `https://secure.gravatar.com/avatar/${digest}?d=identicon${wanted}&version=${version}`;
}

/** Whose picture it is: its URL where it was uploaded, and which one it is of all that the user has had. */
interface Pictured {
  readonly avatarUrl: string | undefined;
  readonly avatarVersion: number;
}

/** Where a user's picture is, and whether it is the provider's or an uploaded one; that has one size alone. */
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

/** What clients are told of a picture that is another now. */
export function writeNewPicture(shownAddress: string, user: Pictured): JsonObject {
  return { ...writePicture(shownAddress, user), avatar_version: user.avatarVersion };
}

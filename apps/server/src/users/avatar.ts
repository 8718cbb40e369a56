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

/** What clients are told of a provider's picture, whose URL is another because the address is. */
export function writeProviderPicture(
  shownAddress: string,
  { avatarVersion }: { readonly avatarVersion: number },
): JsonObject {
  return {
    avatar_source: 'G',
    avatar_url: providerAvatarUrl(shownAddress, avatarVersion),
    avatar_url_medium: providerAvatarUrl(shownAddress, avatarVersion, 'medium'),
    avatar_version: avatarVersion,
  };
}

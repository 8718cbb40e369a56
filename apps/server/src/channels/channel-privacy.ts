import { refused } from '@waxwing/protocol';
import type { Channel } from './channel-store.js';

export type Privacy = Pick<Channel, 'isPrivate' | 'isWebPublic' | 'isHistoryPublic'>;

export type PrivacyWish = { readonly [Name in keyof Privacy]: Privacy[Name] | undefined };

/** The default privacy of a new channel. */
export const usualPrivacy: Privacy = { isPrivate: false, isWebPublic: false, isHistoryPublic: true };

export function isPrivacyAsked(wish: PrivacyWish): boolean {
  return [wish.isPrivate, wish.isWebPublic, wish.isHistoryPublic].some((value) => value !== undefined);
}

/**
 * Applies a requested privacy change. Unless the request sets the history, making a channel private protects its history,
 * and making it public shows it.
 * @throws ProtocolError BAD_REQUEST if the result is inconsistent: web-public channels must be public, and public
 * channels must show their history.
 */
export function plannedPrivacy(current: Privacy, wish: PrivacyWish): Privacy {
  const isPrivate = wish.isPrivate ?? current.isPrivate;
  const isWebPublic = wish.isWebPublic ?? current.isWebPublic;
  const kept = wish.isPrivate === undefined ? current.isHistoryPublic : !wish.isPrivate;
  const isHistoryPublic = wish.isHistoryPublic ?? kept;
  if ((isWebPublic && isPrivate) || (!isPrivate && !isHistoryPublic)) throw refused('Invalid parameters');
  return { isPrivate, isWebPublic, isHistoryPublic };
}

/** The name of a channel's type, for people. */
export function privacyName({ isPrivate, isWebPublic, isHistoryPublic }: Privacy): string {
  if (isWebPublic) return 'Web-public';
  if (!isPrivate) return 'Public';
  return isHistoryPublic ? 'Private, shared history' : 'Private, protected history';
}

import { refused } from '@waxwing/protocol';
import type { Channel } from './channel-store.js';

export type Privacy = Pick<Channel, 'isPrivate' | 'isWebPublic' | 'isHistoryPublic'>;

export type PrivacyWish = { readonly [Name in keyof Privacy]: Privacy[Name] | undefined };

/** What a channel is before anybody has said what it is to be. */
export const usualPrivacy: Privacy = { isPrivate: false, isWebPublic: false, isHistoryPublic: true };

export function isPrivacyAsked(wish: PrivacyWish): boolean {
  return [wish.isPrivate, wish.isWebPublic, wish.isHistoryPublic].some((value) => value !== undefined);
}

/**
 * What somebody's wish makes of a channel: one that becomes private hides what was sent before from whoever joins, one
 * that becomes public shows it, unless the wish says it.
 * @throws ProtocolError BAD_REQUEST where the three do not go together: web-public ones are public, and public ones show
 * their history.
 */
export function plannedPrivacy(current: Privacy, wish: PrivacyWish): Privacy {
  const isPrivate = wish.isPrivate ?? current.isPrivate;
  const isWebPublic = wish.isWebPublic ?? current.isWebPublic;
  const kept = wish.isPrivate === undefined ? current.isHistoryPublic : !wish.isPrivate;
  const isHistoryPublic = wish.isHistoryPublic ?? kept;
  if ((isWebPublic && isPrivate) || (!isPrivate && !isHistoryPublic)) throw refused('Invalid parameters');
  return { isPrivate, isWebPublic, isHistoryPublic };
}

/** The type of a channel as people read it. */
export function privacyName({ isPrivate, isWebPublic, isHistoryPublic }: Privacy): string {
  if (isWebPublic) return 'Web-public';
  if (!isPrivate) return 'Public';
  return isHistoryPublic ? 'Private, shared history' : 'Private, protected history';
}

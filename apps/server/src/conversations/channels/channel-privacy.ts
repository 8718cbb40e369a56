import { refused } from '@waxwing/protocol';
import type { Channel } from './channel-store.js';

export type Privacy = Pick<Channel, 'isPrivate' | 'isWebPublic' | 'isHistoryPublic'>;

export type PrivacyRequest = { readonly [Name in keyof Privacy]: Privacy[Name] | undefined };

/** The default privacy of a new channel. */
export const usualPrivacy: Privacy = { isPrivate: false, isWebPublic: false, isHistoryPublic: true };

export function isPrivacyAsked(requested: PrivacyRequest): boolean {
  return [requested.isPrivate, requested.isWebPublic, requested.isHistoryPublic].some(
    (value) => value !== undefined,
  );
}

/**
 * Applies a requested privacy change. If the request does not set the visibility of the history, a channel that becomes
 * private gets a protected history, and one that becomes public gets a shared history.
 * @throws ProtocolError BAD_REQUEST if the result is inconsistent: web-public channels must be public, and public
 * channels must share their history.
 */
export function plannedPrivacy(current: Privacy, requested: PrivacyRequest): Privacy {
  const isPrivate = requested.isPrivate ?? current.isPrivate;
  const isWebPublic = requested.isWebPublic ?? current.isWebPublic;
  const kept = requested.isPrivate === undefined ? current.isHistoryPublic : !requested.isPrivate;
  const isHistoryPublic = requested.isHistoryPublic ?? kept;
  if ((isWebPublic && isPrivate) || (!isPrivate && !isHistoryPublic)) throw refused('Invalid parameters');
  return { isPrivate, isWebPublic, isHistoryPublic };
}

/** Returns the human-readable name of a channel's privacy. */
export function privacyName({ isPrivate, isWebPublic, isHistoryPublic }: Privacy): string {
  if (isWebPublic) return 'Web-public';
  if (!isPrivate) return 'Public';
  return isHistoryPublic ? 'Private, shared history' : 'Private, protected history';
}

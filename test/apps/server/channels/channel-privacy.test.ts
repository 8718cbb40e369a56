import { expect, it } from 'vitest';
import {
  isPrivacyAsked,
  type Privacy,
  type PrivacyRequest,
  plannedPrivacy,
  privacyName,
  usualPrivacy,
} from '#server/conversations/channels/channel-privacy.js';

/** The four kinds of channels. */
const kinds: Readonly<Record<string, Privacy>> = {
  'Web-public': { isPrivate: false, isWebPublic: true, isHistoryPublic: true },
  Public: { isPrivate: false, isWebPublic: false, isHistoryPublic: true },
  'Private, shared history': { isPrivate: true, isWebPublic: false, isHistoryPublic: true },
  'Private, protected history': { isPrivate: true, isWebPublic: false, isHistoryPublic: false },
};

/** The kind that a channel of this kind changes to, or the error. */
function becomes(kind: string, wish: Partial<PrivacyRequest>): string {
  const none = { isPrivate: undefined, isWebPublic: undefined, isHistoryPublic: undefined };
  try {
    return privacyName(plannedPrivacy(kinds[kind] as Privacy, { ...none, ...wish }));
  } catch (error) {
    return (error as Error).message;
  }
}

it('a channel is public by default', () => {
  expect(usualPrivacy).toEqual(kinds.Public);
});

it('each kind of channel has a name and stays as it is without a request', () => {
  for (const [name, privacy] of Object.entries(kinds)) {
    expect(privacyName(privacy)).toBe(name);
    expect(becomes(name, {})).toBe(name);
  }
});

it('making a channel private hides its history and making it public shows it, unless the request sets the history', () => {
  expect(becomes('Public', { isPrivate: true })).toBe('Private, protected history');
  expect(becomes('Public', { isPrivate: true, isHistoryPublic: true })).toBe('Private, shared history');
  expect(becomes('Private, protected history', { isPrivate: false })).toBe('Public');
  expect(becomes('Private, shared history', { isHistoryPublic: false })).toBe('Private, protected history');
  expect(becomes('Private, protected history', { isHistoryPublic: true })).toBe('Private, shared history');
  expect(becomes('Public', { isWebPublic: true })).toBe('Web-public');
  expect(becomes('Web-public', { isWebPublic: false })).toBe('Public');
});

it('web-public channels must be public, and public channels must share their history', () => {
  for (const [kind, wish] of [
    ['Web-public', { isPrivate: true }],
    ['Web-public', { isPrivate: true, isHistoryPublic: true }],
    ['Private, shared history', { isWebPublic: true }],
    ['Private, protected history', { isWebPublic: true }],
    ['Public', { isHistoryPublic: false }],
    ['Private, protected history', { isPrivate: false, isHistoryPublic: false }],
  ] as const)
    expect(becomes(kind, wish)).toBe('Invalid parameters');
});

it('a request changes privacy if it sets one of the three flags to true or false', () => {
  const none = { isPrivate: undefined, isWebPublic: undefined, isHistoryPublic: undefined };
  expect(isPrivacyAsked(none)).toBe(false);
  for (const name of Object.keys(none))
    for (const value of [false, true]) expect(isPrivacyAsked({ ...none, [name]: value })).toBe(true);
});

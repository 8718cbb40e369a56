/** The types of profile fields, keyed by the names that clients use. */
export const profileFieldTypes = {
  SHORT_TEXT: { id: 1, name: 'Short text' },
  LONG_TEXT: { id: 2, name: 'Long text' },
  SELECT: { id: 3, name: 'List of options' },
  DATE: { id: 4, name: 'Date' },
  URL: { id: 5, name: 'Link' },
  USER: { id: 6, name: 'People' },
  EXTERNAL_ACCOUNT: { id: 7, name: 'External account' },
  PRONOUNS: { id: 8, name: 'Pronouns' },
} as const;

export type ProfileFieldType = (typeof profileFieldTypes)[keyof typeof profileFieldTypes]['id'];

/** Returns whether a number is the id of a type. */
export function isProfileFieldType(id: number): id is ProfileFieldType {
  return Object.values(profileFieldTypes).some((type) => type.id === id);
}

/** Well-known sites for external accounts. A field for such a site gets these values instead of the client's values. */
export const externalAccounts = {
  twitter: {
    name: 'Twitter username',
    text: 'Twitter',
    hint: '',
    url_pattern: 'https://twitter.com/%(username)s',
  },
  github: {
    name: 'GitHub username',
    text: 'GitHub',
    hint: '',
    url_pattern: 'https://github.com/%(username)s',
  },
} as const;

/** The `aps` dictionary that goes to a phone: these fields, with these values, and no other. */
export interface Aps {
  readonly alert?: { readonly title: 'New notification' };
  readonly 'mutable-content'?: 1;
  readonly sound?: 'default';
  readonly 'content-available'?: 1;
}

/** Every dictionary that there can be, by which of its fields are there. */
const dictionaries = Array.from({ length: 16 }, (_, fields): Aps => {
  const aps: Record<string, unknown> = {};
  if (fields & 1) aps.alert = { title: 'New notification' };
  if (fields & 2) aps['mutable-content'] = 1;
  if (fields & 4) aps.sound = 'default';
  if (fields & 8) aps['content-available'] = 1;
  return Object.freeze(aps);
});

/**
 * The `aps` for what a server asked for. Whatever a server writes as alert or sound becomes the one neutral placeholder,
 * because a phone shows it under the app's name when it cannot decrypt: a server must not be able to put words of its
 * own there. https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
 */
export function rebuildAps(asked: Readonly<Record<string, unknown>>): Aps {
  const fields =
    (isAsked(asked.alert) ? 1 : 0) |
    (asked['mutable-content'] === 1 ? 2 : 0) |
    (isAsked(asked.sound) ? 4 : 0) |
    (asked['content-available'] === 1 ? 8 : 0);
  return dictionaries[fields] ?? {};
}

function isAsked(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}

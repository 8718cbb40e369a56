/** Every `aps` dictionary that goes to a phone, as JSON, by which of its fields are there: these values and no other. */
const dictionaries = Array.from({ length: 16 }, (_, fields): string =>
  JSON.stringify({
    ...(fields & 1 && { alert: { title: 'New notification' } }),
    ...(fields & 2 && { 'mutable-content': 1 }),
    ...(fields & 4 && { sound: 'default' }),
    ...(fields & 8 && { 'content-available': 1 }),
  }),
);

/**
 * The `aps` for what a server asked for, as JSON in ASCII. Whatever a server writes as alert or sound becomes the one
 * neutral placeholder, because a phone shows it under the app's name when it cannot decrypt: a server must not be able
 * to put words of its own there.
 * https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
 */
export function rebuildAps(asked: Readonly<Record<string, unknown>>): string {
  const fields =
    (isAsked(asked.alert) ? 1 : 0) |
    (asked['mutable-content'] === 1 ? 2 : 0) |
    (isAsked(asked.sound) ? 4 : 0) |
    (asked['content-available'] === 1 ? 8 : 0);
  return dictionaries[fields] ?? '{}';
}

function isAsked(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}

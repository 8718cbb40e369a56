/** The `aps` dictionary that goes to a phone: these fields, with these values, and no other. */
export interface Aps {
  readonly alert?: { readonly title: 'New notification' };
  readonly 'mutable-content'?: 1;
  readonly sound?: 'default';
  readonly 'content-available'?: 1;
}

/**
 * Builds `aps` anew from what a server asked for. Whatever a server writes as alert or sound becomes the one neutral
 * placeholder, because a phone shows it under the app's name when it cannot decrypt: a server must not be able to put
 * words of its own there. https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
 */
export function rebuildAps(asked: Readonly<Record<string, unknown>>): Aps {
  return {
    ...(isAsked(asked.alert) && { alert: { title: 'New notification' } }),
    ...(asked['mutable-content'] === 1 && { 'mutable-content': 1 }),
    ...(isAsked(asked.sound) && { sound: 'default' }),
    ...(asked['content-available'] === 1 && { 'content-available': 1 }),
  };
}

function isAsked(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}

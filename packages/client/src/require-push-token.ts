/**
 * Validates a push token at run time, for callers without types.
 *
 * @throws RangeError naming the wrong field. The message never contains the token.
 */
export function requirePushToken(given: unknown): void {
  if (typeof given !== 'object' || given === null) {
    const what = typeof given === 'string' ? 'a bare string' : String(given);
    throw new RangeError(
      `pushToken must give an object such as { tokenKind: 'fcm', token: '…' }, or undefined while there is none, but gave ${what}.`,
    );
  }
  const { tokenKind, token, iosAppId, apnsEnvironment } = given as Readonly<Record<string, unknown>>;
  if (tokenKind !== 'fcm' && tokenKind !== 'apns') {
    throw new RangeError(`pushToken.tokenKind must be 'fcm' or 'apns', but is ${shown(tokenKind)}.`);
  }
  if (typeof token !== 'string' || token === '') {
    throw new RangeError('pushToken.token is missing: it must be the text that the phone’s system gave.');
  }
  if (tokenKind === 'fcm') return;
  if (typeof iosAppId !== 'string' || iosAppId === '') {
    throw new RangeError(
      'pushToken.iosAppId is missing: it must be the bundle id of the app, such as com.example.chat.',
    );
  }
  if (apnsEnvironment !== undefined && apnsEnvironment !== 'production' && apnsEnvironment !== 'sandbox') {
    throw new RangeError(
      `pushToken.apnsEnvironment must be 'production' or 'sandbox', but is ${shown(apnsEnvironment)}.`,
    );
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value.slice(0, 40)}'` : String(value);
}

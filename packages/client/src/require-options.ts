import { decodePublicKey } from '@waxwing/protocol/phone';

/**
 * Validates an option that is a relay's public key, and returns the key's bytes.
 *
 * @throws RangeError naming the option if it is missing or not base64 of 32 bytes.
 */
export function requireKey(name: string, key: unknown): Uint8Array {
  if (key === undefined || key === null) {
    throw new RangeError(
      `${name} is missing: it must be base64 of 32 bytes, as waxwing-relay keys export-public prints it.`,
    );
  }
  const bytes = typeof key === 'string' ? decodePublicKey(key) : undefined;
  if (bytes === undefined) {
    throw new RangeError(`${name} must be base64 of 32 bytes, but is "${String(key)}".`);
  }
  return bytes;
}

/** Validates the recovery key, like `requireKey`. For `none` or `null`, the error message says to omit the option. */
export function requireRecoveryKey(name: string, key: unknown): void {
  if (key === 'none' || key === null) {
    throw new RangeError(
      `${name} must be base64 of 32 bytes, but is ${JSON.stringify(key)}: omit it if the relay has none.`,
    );
  }
  requireKey(name, key);
}

/** Pattern of 65 bytes in base64url without padding. The first byte is 4, which marks an uncompressed point. */
const vapidKey = /^B[A-P][\w-]{84}[AEIMQUYcgkosw048]$/;

/** Requires a VAPID public key. @throws RangeError for any other value. */
export function requireVapidKey(key: unknown): void {
  if (typeof key === 'string' && vapidKey.test(key)) return;
  const given = key === undefined || key === null || key === '' ? 'missing' : 'invalid';
  throw new RangeError(
    `vapidPublicKey is ${given}: it must be base64url of 65 bytes, as waxwing-relay apps vapid prints it.`,
  );
}

const ofTextStores = ['accounts', 'seen', 'store'];

/** Requires that all these options are present. @throws RangeError naming the first missing option. */
export function requirePresent(options: object, names: readonly string[], prefix = ''): void {
  const given = Object(options) as Readonly<Record<string, unknown>>;
  for (const name of names) {
    if (given[name] === undefined || given[name] === null || given[name] === '') {
      const origin = ofTextStores.includes(name) ? ': createTextStores creates one' : '';
      throw new RangeError(`${prefix}${name} is missing${origin}.`);
    }
  }
}

/**
 * Requires that these options, if given, are functions. @throws RangeError naming the first option that is not a
 * function.
 */
export function requireFunctions(options: object, names: readonly string[]): void {
  const given = options as Readonly<Record<string, unknown>>;
  for (const name of names) {
    if (given[name] === undefined || typeof given[name] === 'function') continue;
    throw new RangeError(`${name} must be a function, but is ${kindOf(given[name])}.`);
  }
}

/** Requires that a store has these methods. @throws RangeError naming the first missing method. */
export function requireStore(name: string, store: object, methods: readonly string[]): void {
  const given = Object(store) as Readonly<Record<string, unknown>>;
  const missing = methods.find((method) => typeof given[method] !== 'function');
  if (missing === undefined) return;
  throw new RangeError(
    `${name} has no method ${missing}: pass the store of this name that createTextStores makes, not a storage.`,
  );
}

/** Describes the type of a wrong value. Never includes the value itself, which may be a secret. */
function kindOf(value: unknown): string {
  return value === null ? 'null' : `of type ${typeof value}`;
}

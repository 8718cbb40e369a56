/**
 * A random 64-bit id that a client chooses for one account on one phone. It is signed because peers store it as a
 * signed integer. It is never a `number`, which would round it.
 */
export type PushAccountId = bigint & { readonly brand: 'PushAccountId' };

/** A {@link PushAccountId} in decimal, as used in databases, events, URL-encoded forms and FCM data. */
export type PushAccountIdText = string & { readonly brand: 'PushAccountIdText' };

const decimalText = /^-?(?:0|[1-9]\d{0,18})$/;

/**
 * Parses an untrusted `bigint`, `number` or decimal string. Returns `undefined` if the value is not a 64-bit integer,
 * or if it is a number beyond 2^53, which may have been rounded.
 */
export function parsePushAccountId(value: unknown): PushAccountId | undefined {
  if (typeof value === 'bigint') return inRange(value);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? inRange(BigInt(value)) : undefined;
  if (typeof value === 'string' && decimalText.test(value)) return inRange(BigInt(value));
  return undefined;
}

/** Formats an id in decimal, without leading zeros. */
export function formatPushAccountId(id: PushAccountId): PushAccountIdText {
  return id.toString(10) as PushAccountIdText;
}

/**
 * Creates a non-negative id from 63 bits of the first eight bytes. Clients pass random bytes.
 *
 * @throws RangeError if there are fewer than eight bytes.
 */
export function pushAccountIdFromBytes(bytes: Uint8Array): PushAccountId {
  if (bytes.length < 8) throw new RangeError(`bytes must hold at least 8 bytes, got ${bytes.length}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
  return (view.getBigUint64(0) & 0x7fff_ffff_ffff_ffffn) as PushAccountId;
}

function inRange(value: bigint): PushAccountId | undefined {
  return BigInt.asIntN(64, value) === value ? (value as PushAccountId) : undefined;
}

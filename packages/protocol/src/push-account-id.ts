/** The client's random 64-bit number for one account on one phone; signed, as peers store it. Never a `number`. */
export type PushAccountId = bigint & { readonly brand: 'PushAccountId' };

/** The same in decimal: the form for databases, events, URL-encoded forms and FCM data. */
export type PushAccountIdText = string & { readonly brand: 'PushAccountIdText' };

const decimalText = /^-?(?:0|[1-9]\d{0,18})$/;

/** The id in `value`, or `undefined` when it is not an integer of 64 bits. Takes what JSON and forms give us. */
export function parsePushAccountId(value: unknown): PushAccountId | undefined {
  if (typeof value === 'bigint') return inRange(value);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? inRange(BigInt(value)) : undefined;
  if (typeof value === 'string' && decimalText.test(value)) return inRange(BigInt(value));
  return undefined;
}

export function formatPushAccountId(id: PushAccountId): PushAccountIdText {
  return id.toString(10) as PushAccountIdText;
}

/** The first eight bytes as a positive id (63 bits of them), for a client that picks one at random. */
export function pushAccountIdFromBytes(bytes: Uint8Array): PushAccountId {
  if (bytes.length < 8) throw new RangeError(`bytes must hold at least 8 bytes, got ${bytes.length}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
  return (view.getBigUint64(0) & 0x7fff_ffff_ffff_ffffn) as PushAccountId;
}

function inRange(value: bigint): PushAccountId | undefined {
  return BigInt.asIntN(64, value) === value ? (value as PushAccountId) : undefined;
}

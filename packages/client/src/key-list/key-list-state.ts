import { type KeyListDocument, parseJsonOrUndefined } from '@waxwing/protocol/phone';

/** The phone's record of verified key lists. Plain data, safe for `JSON.stringify`. */
export interface KeyListState {
  /** The signing key that the app pinned when the list was verified. */
  readonly pinnedSigningPublicKey: string;
  /** The key that signed the list. Newer than the pinned key if the relay has rotated its signing key. */
  readonly signingPublicKey: string;
  readonly sequence: number;
  /** Unix seconds. */
  readonly issuedAt: number;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly primaryPublicKey: string;
  /** The primary key and all other keys that the relay accepts. */
  readonly listedPublicKeys: readonly string[];
  /** Keys that were revoked or dropped by any list, and former signing keys. */
  readonly refusedPublicKeys: readonly string[];
  /** The app's built-in key, if the list does not contain it. */
  readonly unlistedBuiltInKey?: string;
  /** The first recovery key in a list, if the app pins no recovery key. Later lists neither replace nor revoke it. */
  readonly learnedRecoveryPublicKey?: string;
}

/** Persists the state across restarts. The state contains no secrets, but must be protected against tampering. */
export interface KeyListStore {
  get(): Promise<KeyListState | undefined>;
  put(state: KeyListState): Promise<void>;
}

const stateFields: Readonly<Record<keyof KeyListState, (value: unknown) => boolean>> = {
  pinnedSigningPublicKey: isKey,
  signingPublicKey: isKey,
  sequence: Number.isSafeInteger,
  issuedAt: Number.isSafeInteger,
  expiresAt: Number.isSafeInteger,
  primaryPublicKey: isKey,
  listedPublicKeys: areKeys,
  refusedPublicKeys: areKeys,
  unlistedBuiltInKey: isKeyOrAbsent,
  learnedRecoveryPublicKey: isKeyOrAbsent,
};

/** Decodes the JSON of a state. Returns `undefined` for anything else, such as damaged JSON. */
export function decodeKeyListState(text: string): KeyListState | undefined {
  return validKeyListState(parseJsonOrUndefined(text));
}

/**
 * Returns the value if it is a valid state, and otherwise `undefined`. An app's own store may return `null` or damaged
 * data.
 */
export function validKeyListState(state: unknown): KeyListState | undefined {
  const isState =
    isObject(state) && Object.entries(stateFields).every(([name, isValid]) => isValid(state[name]));
  return isState ? (state as unknown as KeyListState) : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z0-9+/]+=*$/.test(value);
}

function areKeys(value: unknown): boolean {
  return Array.isArray(value) && value.every(isKey);
}

function isKeyOrAbsent(value: unknown): boolean {
  return value === undefined || isKey(value);
}

/** In-memory store for tests, and for programs that fetch the list each time they start. */
export function createMemoryKeyListStore(): KeyListStore {
  let kept: KeyListState | undefined;
  return {
    get: async () => kept,
    async put(state) {
      kept = state;
    },
  };
}

/** A verified key list, with the keys built into the app. */
export interface VerifiedKeyList {
  readonly list: KeyListDocument;
  readonly signingPublicKey: string;
  readonly pinnedSigningPublicKey: string;
  readonly builtInPublicKey: string;
  readonly learnedRecoveryPublicKey: string | undefined;
}

/** Computes the new state from a verified list. Refused keys stay refused. */
export function followKeyList(state: KeyListState | undefined, verified: VerifiedKeyList): KeyListState {
  const { list, signingPublicKey, pinnedSigningPublicKey, builtInPublicKey, learnedRecoveryPublicKey } =
    verified;
  const listed = new Set(list.keys.map(({ public_key: publicKey }) => publicKey));
  const primary = list.keys.find((key) => key.state === 'primary');
  const dropped = (state?.listedPublicKeys ?? []).filter((publicKey) => !listed.has(publicKey));
  const formerSigningKeys = [
    state?.signingPublicKey ?? pinnedSigningPublicKey,
    ...list.signing_keys.map(({ public_key: publicKey }) => publicKey),
  ].filter((publicKey) => publicKey !== signingPublicKey);
  const refused = new Set([
    ...(state?.refusedPublicKeys ?? []),
    ...list.revoked,
    ...dropped,
    ...formerSigningKeys,
  ]);
  return {
    pinnedSigningPublicKey,
    signingPublicKey,
    sequence: list.sequence,
    issuedAt: list.issued_at,
    expiresAt: list.expires_at,
    // A valid key list has exactly one primary key.
    primaryPublicKey: primary?.public_key ?? '',
    listedPublicKeys: [...listed],
    refusedPublicKeys: [...refused],
    ...(listed.has(builtInPublicKey) ? {} : { unlistedBuiltInKey: builtInPublicKey }),
    ...(learnedRecoveryPublicKey === undefined ? {} : { learnedRecoveryPublicKey }),
  };
}

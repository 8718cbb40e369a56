import type { KeyListDocument } from '@waxwing/protocol/phone';

/** What a phone remembers of the key lists that it has verified. Plain data: `JSON.stringify` keeps it whole. */
export interface KeyListState {
  /** The signing key that the app pinned when the list was verified. */
  readonly pinnedSigningPublicKey: string;
  /** The signing key of the list: a later one than the pinned where the relay has rotated it. */
  readonly signingPublicKey: string;
  readonly sequence: number;
  /** Unix seconds. */
  readonly issuedAt: number;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly primaryPublicKey: string;
  /** The primary key and every other that the relay accepts. */
  readonly listedPublicKeys: readonly string[];
  /** Keys that any list has revoked, or has left out after an earlier one had them; former signing keys too. */
  readonly refusedPublicKeys: readonly string[];
  /** The key that the app is built with, when the list does not have it. */
  readonly unlistedBuiltInKey?: string;
  /** The first recovery key that a list named, where the app pins none. No later list replaces it, nor revokes it. */
  readonly learnedRecoveryPublicKey?: string;
}

/** Keeps the state over restarts of the app. It holds no secret, but nobody else should be able to write it. */
export interface KeyListStore {
  get(): Promise<KeyListState | undefined>;
  put(state: KeyListState): Promise<void>;
}

/** A store in memory: for tests, and for programs that ask for the list each time they start. */
export function createMemoryKeyListStore(): KeyListStore {
  let kept: KeyListState | undefined;
  return {
    get: async () => kept,
    async put(state) {
      kept = state;
    },
  };
}

/** What was verified, and what the app brings along. */
export interface VerifiedKeyList {
  readonly list: KeyListDocument;
  readonly signingPublicKey: string;
  readonly pinnedSigningPublicKey: string;
  readonly builtInPublicKey: string;
  readonly learnedRecoveryPublicKey: string | undefined;
}

/** The state after a list was verified. Nothing that was ever refused comes back. */
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
    // The shape of a key list demands exactly one primary.
    primaryPublicKey: primary?.public_key ?? '',
    listedPublicKeys: [...listed],
    refusedPublicKeys: [...refused],
    ...(listed.has(builtInPublicKey) ? {} : { unlistedBuiltInKey: builtInPublicKey }),
    ...(learnedRecoveryPublicKey === undefined ? {} : { learnedRecoveryPublicKey }),
  };
}

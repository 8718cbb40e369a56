import type { JsonObject } from '@waxwing/protocol/phone';

/**
 * The source of the relay's key. `key-list`: a key list that was just fetched and verified. `last-good-list`: an
 * earlier list, because no newer one is available. `built-in`: the key in the app.
 */
export type BouncerKeySource = 'key-list' | 'last-good-list' | 'built-in';

/** The relay's key to seal to. */
export interface BouncerKeyChoice {
  readonly source: BouncerKeySource;
  /** Base64, ready for `bouncer_public_key`. */
  readonly publicKey: string;
  /** Sequence of the list; absent for the built-in key. */
  readonly sequence?: number;
  /** When the list was issued, in Unix milliseconds; absent for the built-in key. */
  readonly issuedAt?: number;
  /** Explains why a fallback is in use; absent otherwise. */
  readonly warning?: string;
}

/** There is no key that is safe to seal to. */
export interface NoBouncerKey {
  readonly source: 'none';
  readonly warning: string;
}

/** Source of key lists: a server. */
interface KeyListOrigin {
  /** Fetches the signed key list from the server, which passes it on. */
  fetchKeyList(): Promise<JsonObject>;
}

/** Chooses the bouncer key to seal to. */
export interface BouncerKeyChooser {
  /** Fetches the newest key list and chooses the key. */
  choose(origin: KeyListOrigin): Promise<BouncerKeyChoice | NoBouncerKey>;
}

/** For apps without key lists: always chooses the built-in key. */
export function createBuiltInKey(publicKey: string): BouncerKeyChooser {
  return { choose: async () => ({ source: 'built-in', publicKey }) };
}

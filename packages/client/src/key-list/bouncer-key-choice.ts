import type { JsonObject } from '@waxwing/protocol/phone';

/**
 * The source of the relay's key. `key-list`: a key list that was just fetched and verified. `last-good-list`: an
 * earlier list, because no newer one is available. `built-in`: the key in the app.
 */
export type BouncerKeySource = 'key-list' | 'last-good-list' | 'built-in';

/** The bouncer key to which registrations are sealed, and its source. */
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

/** Result of a choice if no key is safe to seal to. */
export interface NoBouncerKey {
  readonly source: 'none';
  readonly warning: string;
}

/** A server that forwards the relay's key lists. */
interface KeyListOrigin {
  /** Fetches the signed key list from the server. */
  fetchKeyList(): Promise<JsonObject>;
}

/** Chooses the bouncer key to seal to. */
export interface BouncerKeyChooser {
  /** Fetches the newest key list and chooses the key. */
  choose(origin: KeyListOrigin): Promise<BouncerKeyChoice | NoBouncerKey>;
}

/** Creates a chooser that always returns the built-in key, for apps that do not use key lists. */
export function createBuiltInKey(publicKey: string): BouncerKeyChooser {
  return { choose: async () => ({ source: 'built-in', publicKey }) };
}

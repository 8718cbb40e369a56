import type { JsonObject } from '@waxwing/protocol/phone';

/**
 * Where the key comes from: a key list that was fetched and verified just now, the last good list while no newer one
 * can be had, or the app itself.
 */
export type BouncerKeySource = 'key-list' | 'last-good-list' | 'built-in';

/** Which bouncer key to seal to. */
export interface BouncerKeyChoice {
  readonly source: BouncerKeySource;
  /** Base64, ready for `bouncer_public_key`. */
  readonly publicKey: string;
  /** Sequence of the list; absent for the key in the app. */
  readonly sequence?: number;
  /** When the list was issued, in Unix milliseconds; absent for the key in the app. */
  readonly issuedAt?: number;
  /** Present when the source is not the one that it should be: why, in a sentence. */
  readonly warning?: string;
}

/** There is no key that it would be safe to seal to. */
export interface NoBouncerKey {
  readonly source: 'none';
  readonly warning: string;
}

/** What the choice of a key needs of a server. */
interface KeyListOrigin {
  /** The signed key list as the server passes it on. */
  fetchKeyList(): Promise<JsonObject>;
}

/** Says which bouncer key to seal to. */
export interface BouncerKeyChooser {
  /** Asks the server for the newest key list, and chooses by what is known then. */
  choose(origin: KeyListOrigin): Promise<BouncerKeyChoice | NoBouncerKey>;
}

/** For an app that follows no key list: always the key that it was built with. */
export function createBuiltInKey(publicKey: string): BouncerKeyChooser {
  return { choose: async () => ({ source: 'built-in', publicKey }) };
}

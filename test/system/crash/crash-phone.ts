import { randomBytes } from 'node:crypto';
import { encodePushRegistration, type PushRegistration, type PushTarget, parseJson } from '@waxwing/protocol';
import type { Sodium } from '@waxwing/sodium';
import { computeTokenId } from '#relay/registrations/store/addressee.js';
import { AccountKey, SecretKey } from './crash-keys.js';

export type Generation = 'older' | 'newer';

export interface CrashPhoneOptions {
  readonly sodium: Sodium;
  readonly bouncerPublicKey: string;
  readonly tokenKind: 'fcm' | 'apns';
  /** Its protocol generation. Default: `older`. */
  readonly generation?: Generation;
}

/** A minimal phone: a token, an account and a key of its own. */
export class CrashPhone {
  readonly token: string;
  readonly tokenKind: 'fcm' | 'apns';
  readonly generation: Generation;
  /** Decimal text. */
  readonly pushAccountId: string;
  readonly pushPublicKey: string;
  readonly bouncerPublicKey: string;
  readonly sealedRegistration: string;
  readonly #sodium: Sodium;
  readonly #key: AccountKey | SecretKey;

  constructor({ sodium, bouncerPublicKey, tokenKind, generation = 'older' }: CrashPhoneOptions) {
    this.#sodium = sodium;
    const account = new AccountKey(sodium);
    this.#key = generation === 'older' ? account : new SecretKey();
    this.token = randomBytes(32).toString('hex');
    this.tokenKind = tokenKind;
    this.generation = generation;
    this.pushAccountId = account.id;
    this.pushPublicKey = toBase64(account.publicKey);
    this.bouncerPublicKey = bouncerPublicKey;
    this.sealedRegistration = this.sealRegistration();
  }

  /** Its token's id, which names it in the newer generation. */
  get tokenId(): string {
    return computeTokenId(this.token);
  }

  /** The payload field that identifies its key, and the field's value. */
  get keyField(): { readonly name: string; readonly id: string } {
    return this.#key;
  }

  /** Seals its registration now, in base64. `more` adds fields or replaces the timestamp. */
  sealRegistration(more: Partial<Pick<PushRegistration, 'timestamp' | 'sequence'>> = {}): string {
    const { token, tokenKind } = this;
    const target: PushTarget =
      tokenKind === 'fcm'
        ? { tokenKind, token }
        : { tokenKind, token, iosAppId: 'org.example.app', apnsEnvironment: 'production' };
    const timestamp = Math.floor(Date.now() / 1000);
    const registration = encodePushRegistration({ ...target, timestamp, ...more });
    const key = new Uint8Array(Buffer.from(this.bouncerPublicKey, 'base64'));
    return toBase64(this.#sodium.seal(registration, key));
  }

  /** The form of its registration at the server in the older generation. */
  get registration(): Record<string, string> {
    return {
      token_kind: this.tokenKind,
      push_account_id: this.pushAccountId,
      push_public_key: this.pushPublicKey,
      bouncer_public_key: this.bouncerPublicKey,
      encrypted_push_registration: this.sealedRegistration,
    };
  }

  /** The form of its registration at the server in the newer generation, without the device's id. */
  get deviceRegistration(): Record<string, string> {
    if (!(this.#key instanceof SecretKey)) throw new TypeError('the phone speaks the older generation');
    return {
      push_key_id: this.#key.id,
      push_key: this.#key.pushKey,
      token_kind: this.tokenKind,
      token_id: this.tokenId,
      bouncer_public_key: this.bouncerPublicKey,
      encrypted_push_registration: this.sealedRegistration,
    };
  }

  /** The ciphertext of a notification for this phone, in base64. */
  seal(notification: string): string {
    return toBase64(this.#key.seal(Buffer.from(notification)));
  }

  /** The JSON in a ciphertext for this phone; `undefined` if its key does not open it. */
  open(encrypted: string): unknown {
    const plaintext = this.#key.open(new Uint8Array(Buffer.from(encrypted, 'base64')));
    return plaintext === undefined ? undefined : parseJson(Buffer.from(plaintext).toString('utf8'));
  }
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

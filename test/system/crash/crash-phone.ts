import { randomBytes } from 'node:crypto';
import { encodePushRegistration, type PushRegistration, type PushTarget, parseJson } from '@waxwing/protocol';
import type { KeyPair, Sodium } from '@waxwing/sodium';

export interface CrashPhoneOptions {
  readonly sodium: Sodium;
  readonly bouncerPublicKey: string;
  readonly tokenKind: 'fcm' | 'apns';
}

/** A minimal phone: a token, an account and a key of its own. */
export class CrashPhone {
  readonly token: string;
  readonly tokenKind: 'fcm' | 'apns';
  /** Decimal text. */
  readonly pushAccountId: string;
  readonly pushPublicKey: string;
  readonly bouncerPublicKey: string;
  readonly sealedRegistration: string;
  readonly #sodium: Sodium;
  readonly #keyPair: KeyPair;

  constructor({ sodium, bouncerPublicKey, tokenKind }: CrashPhoneOptions) {
    this.#sodium = sodium;
    this.#keyPair = sodium.generateKeyPair();
    this.token = randomBytes(32).toString('hex');
    this.tokenKind = tokenKind;
    this.pushAccountId = String(randomBytes(8).readBigInt64BE());
    this.pushPublicKey = toBase64(this.#keyPair.publicKey);
    this.bouncerPublicKey = bouncerPublicKey;
    this.sealedRegistration = this.sealRegistration();
  }

  /** Its registration, sealed now, in base64; `more` adds fields or replaces the timestamp. */
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

  /** The form of its registration at the server. */
  get registration(): Record<string, string> {
    return {
      token_kind: this.tokenKind,
      push_account_id: this.pushAccountId,
      push_public_key: this.pushPublicKey,
      bouncer_public_key: this.bouncerPublicKey,
      encrypted_push_registration: this.sealedRegistration,
    };
  }

  /** The ciphertext of a notification for this phone, in base64. */
  seal(notification: string): string {
    return toBase64(this.#sodium.seal(Buffer.from(notification), this.#keyPair.publicKey));
  }

  /** The JSON in a ciphertext for this phone; `undefined` when its key does not open it. */
  open(encrypted: string): unknown {
    const plaintext = this.#sodium.openSealed(
      new Uint8Array(Buffer.from(encrypted, 'base64')),
      this.#keyPair,
    );
    return plaintext === undefined ? undefined : parseJson(Buffer.from(plaintext).toString('utf8'));
  }
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

import { randomBytes } from 'node:crypto';
import { fromUnifiedPush } from '@waxwing/client';
import {
  encodePushRegistration,
  type JsonObject,
  type PushRegistration,
  type PushTarget,
  parseJson,
  type TokenKind,
} from '@waxwing/protocol';
import type { Sodium } from '@waxwing/sodium';
import { computeTokenId } from '#relay/registrations/store/addressee.js';
import { WebPushPhone } from '../../apps/relay/deliveries/web-push-phone.js';
import { AccountKey, SecretKey } from './crash-keys.js';

export type Generation = 'older' | 'newer';

/** The token kind of each kind of phone. An FCM phone has a registration token or an installation id (`fid`). */
const tokenKindOf = {
  fcm: 'fcm',
  fid: 'fcm',
  apns: 'apns',
  webpush: 'webpush',
  unifiedpush: 'webpush',
} as const satisfies Record<string, TokenKind>;

export type PhoneKind = keyof typeof tokenKindOf;
export const phoneKinds = Object.keys(tokenKindOf) as readonly PhoneKind[];

export interface CrashPhoneOptions {
  readonly sodium: Sodium;
  readonly bouncerPublicKey: string;
  readonly kind: PhoneKind;
  /** URL of the push service. Required for `webpush` and `unifiedpush`. */
  readonly webPushUrl?: string;
  /** The phone's protocol generation. Default: `older`. */
  readonly generation?: Generation;
}

/** A minimal phone with its own token, account and key. */
export class CrashPhone {
  readonly token: string;
  /** The phone's address at the vendor: its token, or the endpoint of its subscription. */
  readonly address: string;
  readonly tokenKind: TokenKind;
  readonly generation: Generation;
  /** Decimal string. */
  readonly pushAccountId: string;
  readonly pushPublicKey: string;
  readonly bouncerPublicKey: string;
  readonly sealedRegistration: string;
  readonly #sodium: Sodium;
  readonly #key: AccountKey | SecretKey;
  readonly #subscription: WebPushPhone | undefined;

  constructor({ sodium, bouncerPublicKey, kind, webPushUrl, generation = 'older' }: CrashPhoneOptions) {
    this.#sodium = sodium;
    const account = new AccountKey(sodium);
    this.#key = generation === 'older' ? account : new SecretKey();
    this.tokenKind = tokenKindOf[kind];
    const name =
      kind === 'fid'
        ? `c${randomBytes(16).toString('base64url').slice(0, 21)}`
        : randomBytes(32).toString('hex');
    if (this.tokenKind === 'webpush') {
      this.#subscription = new WebPushPhone(
        `${webPushUrl}/push/${name}${kind === 'unifiedpush' ? '?up=1' : ''}`,
      );
    }
    this.token = this.#subscription === undefined ? name : tokenOf(kind, this.#subscription);
    this.address = this.#subscription?.endpoint ?? name;
    this.generation = generation;
    this.pushAccountId = account.id;
    this.pushPublicKey = toBase64(account.publicKey);
    this.bouncerPublicKey = bouncerPublicKey;
    this.sealedRegistration = this.sealRegistration();
  }

  /** The token's id, which identifies the device in the newer generation. */
  get tokenId(): string {
    return computeTokenId(this.token);
  }

  /** Name and value of the payload field that identifies the phone's key. */
  get keyField(): { readonly name: string; readonly id: string } {
    return this.#key;
  }

  /**
   * Seals a registration with the current time and returns it in base64. `more` adds fields or replaces the timestamp.
   */
  sealRegistration(more: Partial<Pick<PushRegistration, 'timestamp' | 'sequence'>> = {}): string {
    const { token, tokenKind } = this;
    const target: PushTarget =
      tokenKind !== 'apns'
        ? { tokenKind, token }
        : { tokenKind, token, iosAppId: 'org.example.app', apnsEnvironment: 'production' };
    const timestamp = Math.floor(Date.now() / 1000);
    const registration = encodePushRegistration({ ...target, timestamp, ...more });
    const key = new Uint8Array(Buffer.from(this.bouncerPublicKey, 'base64'));
    return toBase64(this.#sodium.seal(registration, key));
  }

  /** Form fields that register the phone with the server in the older generation. */
  get registration(): Record<string, string> {
    return {
      token_kind: this.tokenKind,
      push_account_id: this.pushAccountId,
      push_public_key: this.pushPublicKey,
      bouncer_public_key: this.bouncerPublicKey,
      encrypted_push_registration: this.sealedRegistration,
    };
  }

  /** Form fields that register the phone with the server in the newer generation, except the device id. */
  get deviceRegistration(): Record<string, string> {
    if (!(this.#key instanceof SecretKey)) throw new TypeError('the phone uses the older generation');
    return {
      push_key_id: this.#key.id,
      push_key: this.#key.pushKey,
      token_kind: this.tokenKind,
      token_id: this.tokenId,
      bouncer_public_key: this.bouncerPublicKey,
      encrypted_push_registration: this.sealedRegistration,
    };
  }

  /** Decrypts a push to the phone's subscription (RFC 8291), and returns the JSON payload. */
  openPush(body: Buffer): JsonObject {
    if (this.#subscription === undefined) throw new TypeError('the phone has no subscription');
    return parseJson(this.#subscription.open(body)) as JsonObject;
  }

  /** The ciphertext of a notification for this phone, in base64. */
  seal(notification: string): string {
    return toBase64(this.#key.seal(Buffer.from(notification)));
  }

  /**
   * Decrypts a ciphertext for this phone and returns its JSON. Returns `undefined` if the phone's key cannot decrypt
   * it.
   */
  open(encrypted: string): unknown {
    const plaintext = this.#key.open(new Uint8Array(Buffer.from(encrypted, 'base64')));
    return plaintext === undefined ? undefined : parseJson(Buffer.from(plaintext).toString('utf8'));
  }
}

/** The token of a subscription. For UnifiedPush, built from the connector's endpoint, as apps do. */
function tokenOf(kind: PhoneKind, { endpoint, keys, auth, token }: WebPushPhone): string {
  if (kind !== 'unifiedpush') return token;
  const pubKeySet = { pubKey: keys.getPublicKey('base64url'), auth: auth.toString('base64url') };
  return fromUnifiedPush({ url: endpoint, pubKeySet }).token;
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

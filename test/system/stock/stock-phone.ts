import { createHash, randomBytes } from 'node:crypto';
import { openSecretBox, seal } from '../../support/noble-oracle.js';

export interface StockPhoneOptions {
  /** Any string for FCM, hexadecimal digits for APNs. */
  readonly token: string;
  readonly kind: 'fcm' | 'apns';
  /** The relay's public key that is built into the app. */
  readonly bouncerPublicKey: string;
  readonly clock: () => number;
}

/** The token fields of a registration request. */
export interface TokenGroup {
  readonly token_kind: string;
  readonly token_id: string;
  readonly bouncer_public_key: string;
  readonly encrypted_push_registration: string;
}

/** A phone with a stock app. Has a token, and seals registrations as the app does. */
export class StockPhone {
  token: string;
  readonly kind: 'fcm' | 'apns';
  bouncerPublicKey: string;
  readonly clock: () => number;

  constructor({ token, kind, bouncerPublicKey, clock }: StockPhoneOptions) {
    this.token = token;
    this.kind = kind;
    this.bouncerPublicKey = bouncerPublicKey;
    this.clock = clock;
  }

  get tokenId(): string {
    return createHash('sha256').update(this.token).digest().subarray(0, 8).toString('base64');
  }

  /** Seals a registration. `sealedAt` is in Unix seconds; the default is now. */
  tokenGroup(sealedAt = Math.floor(this.clock() / 1000)): TokenGroup {
    const { kind, token, tokenId, bouncerPublicKey } = this;
    const registration = {
      token_kind: kind,
      token,
      timestamp: sealedAt,
      ...(kind === 'apns' && { ios_app_id: 'org.example.Stock' }),
    };
    const publicKey = Buffer.from(bouncerPublicKey, 'base64');
    const box = seal(Buffer.from(JSON.stringify(registration)), publicKey, randomBytes(32));
    return {
      token_kind: kind,
      token_id: tokenId,
      bouncer_public_key: bouncerPublicKey,
      encrypted_push_registration: Buffer.from(box).toString('base64'),
    };
  }
}

/** A key that encrypts the notifications for one account. */
export interface PushKey {
  readonly id: number;
  /** 33 bytes. The first byte is 0x31. */
  readonly bytes: Buffer;
  /** Unix milliseconds. */
  readonly createdAt: number;
  supersededAt: number | undefined;
}

export function newPushKey(createdAt: number): PushKey {
  const bytes = Buffer.concat([Buffer.of(0x31), randomBytes(32)]);
  return { id: randomBytes(4).readUInt32BE(), bytes, createdAt, supersededAt: undefined };
}

/** The key id and ciphertext in a vendor's delivery. `undefined` for a notification in any other format. */
export function readDelivered(body: Readonly<Record<string, unknown>>) {
  const { data } = (body.message ?? {}) as { data?: Record<string, string> };
  // In FCM data, every value is a string. In APNs JSON, the id is a number.
  const keyId = data === undefined ? body.push_key_id : asUnsigned(data.push_key_id);
  const encrypted = (data ?? body).encrypted_data;
  if (typeof keyId !== 'number' || typeof encrypted !== 'string') return undefined;
  return { keyId, encrypted: Buffer.from(encrypted, 'base64') };
}

function asUnsigned(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Decrypts a phone's ciphertext and returns its JSON object. Returns `undefined` if the key cannot decrypt it. */
export function openNotification(encrypted: Buffer, { bytes }: PushKey): Record<string, unknown> | undefined {
  const plaintext = openSecretBox(encrypted.subarray(24), encrypted.subarray(0, 24), bytes.subarray(1));
  if (plaintext === undefined) return undefined;
  return JSON.parse(Buffer.from(plaintext).toString('utf8')) as Record<string, unknown>;
}

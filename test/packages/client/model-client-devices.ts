import { createHash } from 'node:crypto';
import { decodeBase64, decodePushKey, encodeBase64 } from '@waxwing/protocol';
import { openSealed, sealSecretBox } from '../../support/noble-oracle.js';

/** A row in the server's device table. */
export interface ModelDevice {
  readonly userId: number;
  push_key: string | null;
  push_key_id: number | null;
  push_token_id: string | null;
  pending_push_token_id: string | null;
  push_token_last_updated_timestamp: number | null;
  push_registration_error_code: string | null;
  token_kind: string | null;
}

/** A pending request to the relay. */
export interface RelayJob {
  readonly deviceId: number;
  readonly tokenId: string;
  readonly bouncerPublicKey: string;
  readonly sealed: string;
}

/** A token registration that the relay decrypted. */
export interface OpenedToken {
  readonly bouncerPublicKey: string;
  readonly registration: Record<string, unknown>;
}

/** Refusal of an operation, with the code and message that stock servers use. */
export class Refusal extends Error {
  readonly code: string;
  constructor(message: string, code = 'BAD_REQUEST') {
    super(message);
    this.code = code;
  }
}

interface World {
  /** Unix milliseconds. */
  now(): number;
  readonly bouncerKeys: ReadonlyMap<string, Uint8Array>;
  emit(event: Record<string, unknown>): void;
  verdictOn(opened: OpenedToken): string | null;
}

const keyFields = ['push_key_id', 'push_key'];
const tokenFields = ['token_kind', 'token_id', 'bouncer_public_key', 'encrypted_push_registration'];
type Fields = ReadonlyMap<string, string>;

/**
 * Model of a stock server's devices of the newer generation, including the order of checks, the messages, no-ops and
 * events.
 */
export class ModelClientDevices {
  readonly rows = new Map<number, ModelDevice>();
  /** Token registrations that the relay decrypted, oldest first. */
  readonly opened: OpenedToken[] = [];
  /** Pending requests to the relay. */
  jobs: RelayJob[] = [];
  nextId = 1;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  create(userId: number): number {
    const id = this.nextId;
    this.nextId += 1;
    this.rows.set(id, {
      userId,
      push_key: null,
      push_key_id: null,
      push_token_id: null,
      pending_push_token_id: null,
      push_token_last_updated_timestamp: null,
      push_registration_error_code: null,
      token_kind: null,
    });
    this.#world.emit({ type: 'device', op: 'add', device_id: id });
    return id;
  }

  remove(userId: number, id: number): void {
    this.#own(userId, id);
    this.rows.delete(id);
    this.#world.emit({ type: 'device', op: 'remove', device_id: id });
  }

  register(userId: number, fields: Fields): void {
    const id = Number(fields.get('device_id'));
    const row = this.#own(userId, id);
    const has = (names: readonly string[]) => names.every((name) => fields.has(name));
    const [withKey, withToken] = [has(keyFields), has(tokenFields)];
    if (!withKey && !withToken) {
      const text = 'Missing parameters: must provide either all push key fields, all token fields, or both.';
      throw new Refusal(text);
    }
    if (withToken) this.#registerToken(id, row, fields, withKey);
    else this.#rotateKey(id, row, fields);
  }

  /** Makes the relay decide on all pending requests. */
  runJobs(): void {
    for (const job of this.jobs.splice(0)) this.#decide(job);
  }

  /** Handles a token that the relay reports as dead. Clears the token only in the notified user's rows. */
  clearToken(userId: number, tokenId: string): void {
    for (const [id, row] of this.rows) {
      if (row.userId === userId && row.push_token_id === tokenId)
        this.#update(id, row, { push_token_id: null });
    }
  }

  stateOf(userId: number): Record<string, unknown> {
    const own = [...this.rows].filter(([, row]) => row.userId === userId);
    return Object.fromEntries(
      own.map(([id, { userId: _user, push_key: _key, token_kind: _kind, ...state }]) => [String(id), state]),
    );
  }

  /** Returns the data of an FCM message to a device. */
  sealFor({ push_key: key, push_key_id }: ModelDevice, plaintext: string, nonce: Uint8Array) {
    const secret = decodePushKey(key ?? '');
    if (secret === undefined) throw new Error('The device has no key.');
    const box = sealSecretBox(new TextEncoder().encode(plaintext), nonce, secret);
    return {
      push_key_id: String(push_key_id),
      encrypted_data: encodeBase64(Uint8Array.of(...nonce, ...box)),
    };
  }

  #own(userId: number, id: number): ModelDevice {
    const row = this.rows.get(id);
    if (row?.userId !== userId) throw new Refusal('Invalid `device_id`');
    return row;
  }

  #rotateKey(id: number, row: ModelDevice, fields: Fields): void {
    if (row.push_key_id === null) throw new Refusal('No push registration exists to rotate key for.');
    const key = checkKey(fields);
    if (row.push_key_id === key.push_key_id && row.push_key === key.push_key) return;
    row.push_key = key.push_key;
    this.#update(id, row, { push_key_id: key.push_key_id });
  }

  #registerToken(id: number, row: ModelDevice, fields: Fields, withKey: boolean): void {
    const field = (name: string) => fields.get(name) ?? '';
    const [tokenId, kind] = [field('token_id'), field('token_kind')];
    const isFine = row.push_registration_error_code === null;
    if (row.pending_push_token_id !== null && isFine) {
      throw new Refusal('A registration for the device already in progress.');
    }
    if (decodeBase64(tokenId)?.length !== 8) throw new Refusal('`token_id` is not Base64 encoded');
    const isSameToken = isFine && row.push_token_id === tokenId;
    if (withKey) {
      const key = checkKey(fields);
      const isSameKey = row.push_key_id === key.push_key_id && row.push_key === key.push_key;
      if (isSameToken && isSameKey && row.token_kind === kind) return;
      row.push_key = key.push_key;
      row.token_kind = kind;
      this.#update(id, row, { push_key_id: key.push_key_id, ...this.#pending(tokenId) });
    } else {
      if (row.push_key_id === null) throw new Refusal('No push registration exists to rotate token for.');
      if (isSameToken) return;
      this.#update(id, row, this.#pending(tokenId));
    }
    const sealed = field('encrypted_push_registration');
    this.jobs.push({ deviceId: id, tokenId, bouncerPublicKey: field('bouncer_public_key'), sealed });
  }

  #pending(tokenId: string): Partial<ModelDevice> {
    return {
      pending_push_token_id: tokenId,
      push_token_last_updated_timestamp: Math.floor(this.#world.now() / 1000),
      push_registration_error_code: null,
    };
  }

  #decide({ deviceId, tokenId, bouncerPublicKey, sealed }: RelayJob): void {
    const row = this.rows.get(deviceId);
    const errorCode = this.#openAndJudge(tokenId, bouncerPublicKey, sealed);
    if (row?.pending_push_token_id !== tokenId) return;
    this.#update(
      deviceId,
      row,
      errorCode === null
        ? { push_token_id: tokenId, pending_push_token_id: null }
        : { push_registration_error_code: errorCode },
    );
  }

  #openAndJudge(tokenId: string, bouncerPublicKey: string, sealed: string): string | null {
    const privateKey = this.#world.bouncerKeys.get(bouncerPublicKey);
    if (privateKey === undefined) return 'INVALID_BOUNCER_PUBLIC_KEY';
    const [box, publicKey] = [sealed, bouncerPublicKey].map((text) => decodeBase64(text) ?? new Uint8Array());
    const plaintext = openSealed(box as Uint8Array, publicKey as Uint8Array, privateKey);
    if (plaintext === undefined) return 'BAD_REQUEST';
    const registration = JSON.parse(new TextDecoder().decode(plaintext)) as Record<string, unknown>;
    this.opened.push({ bouncerPublicKey, registration });
    if (modelTokenId(String(registration.token)) !== tokenId) return 'BAD_REQUEST';
    return this.#world.verdictOn({ bouncerPublicKey, registration });
  }

  #update(id: number, row: ModelDevice, fields: Partial<ModelDevice>): void {
    Object.assign(row, fields);
    this.#world.emit({ type: 'device', op: 'update', device_id: id, ...fields });
  }
}

export function modelTokenId(token: string): string {
  return createHash('sha256').update(token).digest().subarray(0, 8).toString('base64');
}

function checkKey(fields: Fields): { readonly push_key_id: number; readonly push_key: string } {
  const [push_key_id, push_key] = [Number(fields.get('push_key_id')), fields.get('push_key') ?? ''];
  if (!Number.isInteger(push_key_id) || push_key_id < 0 || push_key_id > 0xffff_ffff) {
    throw new Refusal('Invalid push_key_id: Value error, Not a valid unsigned 32-bit integer');
  }
  if (decodePushKey(push_key) === undefined) throw new Refusal('Invalid `push_key`');
  return { push_key_id, push_key };
}

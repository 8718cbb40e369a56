import { randomBytes } from 'node:crypto';
import { openSealed, publicKeyOf } from '../../support/noble-oracle.js';
import type { AskServer } from './stock-app.js';
import type { StockPhone } from './stock-phone.js';

interface KeyPair {
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
}

interface PushDevice {
  readonly status: 'pending' | 'active' | 'failed';
}

/** One account in an app of the older generation (docs/protocol.md), implemented independently of the client. */
export class OlderApp {
  readonly phone: StockPhone;
  readonly shown = new Map<number, number>();
  readonly #ask: AskServer;
  readonly #authorization: string;
  /** The push account id. Its high bits are zero, so that every JSON parser reads it exactly. */
  #accountId = newAccountId();
  #keys: KeyPair[] = [newKeyPair()];
  /** Token and key of the last registration that the server accepted. */
  #registered = '';
  #device: PushDevice | undefined;

  constructor({ ask, phone, authorization }: { ask: AskServer; phone: StockPhone; authorization: string }) {
    this.#ask = ask;
    this.phone = phone;
    this.#authorization = authorization;
  }

  get isPending(): boolean {
    return this.#device?.status === 'pending';
  }

  get isFailed(): boolean {
    return this.#device?.status === 'failed';
  }

  /** Whether the server sends notifications to the current token with the current key. */
  get isSettled(): boolean {
    return this.#device?.status === 'active' && this.#registered === this.#current;
  }

  /** Reads the registration state. Registers if the server lacks the token or key, or has refused them. */
  async start(): Promise<void> {
    await this.look();
    const isLost = this.#device === undefined || this.isFailed;
    if (isLost || this.#registered !== this.#current) await this.#register();
  }

  async look(): Promise<void> {
    const types = JSON.stringify(['push_device']);
    const fields = { event_types: types, fetch_event_types: types };
    const { body } = await this.#ask('POST', 'register', fields, this.#authorization);
    this.#device = (body.push_devices as Record<string, PushDevice>)[this.#accountId];
  }

  /** Creates a new key. Previous keys still decrypt earlier notifications. */
  rotateKey(): void {
    this.#keys.push(newKeyPair());
  }

  async signIn(): Promise<void> {
    await this.start();
  }

  async logOut(): Promise<void> {
    const fields = { push_account_id: this.#accountId };
    await this.#ask('DELETE', 'mobile_push/register', fields, this.#authorization);
    this.#accountId = newAccountId();
    this.#keys = [newKeyPair()];
    this.#registered = '';
    this.#device = undefined;
  }

  /** Returns whether the account can decrypt the notification. */
  receive(body: Readonly<Record<string, unknown>>): boolean {
    const { data = body } = (body.message ?? {}) as { data?: Readonly<Record<string, unknown>> };
    if (String(data.push_account_id) !== this.#accountId) return false;
    const box = Buffer.from(String(data.encrypted_data), 'base64');
    for (const { publicKey, privateKey } of this.#keys) {
      const plaintext = openSealed(box, publicKey, privateKey);
      if (plaintext === undefined) continue;
      const { type, message_id: id } = JSON.parse(Buffer.from(plaintext).toString('utf8'));
      if (type === 'message') this.shown.set(id, (this.shown.get(id) ?? 0) + 1);
      return true;
    }
    return false;
  }

  get #current(): string {
    return `${this.phone.token} ${this.#keys.length}`;
  }

  async #register(): Promise<void> {
    const { token_id: _, ...token } = this.phone.tokenGroup();
    const key = this.#keys.at(-1)?.publicKey ?? new Uint8Array();
    const fields = {
      push_account_id: this.#accountId,
      push_public_key: Buffer.from(key).toString('base64'),
      ...token,
    };
    const { status, body } = await this.#ask('POST', 'mobile_push/register', fields, this.#authorization);
    if (status !== 200) throw new Error(JSON.stringify(body));
    this.#registered = this.#current;
    await this.look();
  }
}

function newAccountId(): string {
  return String(randomBytes(6).readUIntBE(0, 6));
}

function newKeyPair(): KeyPair {
  const privateKey = new Uint8Array(randomBytes(32));
  return { privateKey, publicKey: publicKeyOf(privateKey) };
}

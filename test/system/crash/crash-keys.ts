import { randomBytes, randomInt } from 'node:crypto';
import type { KeyPair, Sodium } from '@waxwing/sodium';
import { openSecretBox, sealSecretBox } from '../../support/noble-oracle.js';

const nonceBytes = 24;

/** A phone's key in the older generation: a key pair, identified by the account's id. */
export class AccountKey {
  readonly name = 'push_account_id';
  readonly id = String(randomBytes(8).readBigInt64BE());
  readonly #sodium: Sodium;
  readonly #keyPair: KeyPair;

  constructor(sodium: Sodium) {
    this.#sodium = sodium;
    this.#keyPair = sodium.generateKeyPair();
  }

  get publicKey(): Uint8Array {
    return this.#keyPair.publicKey;
  }

  seal(plaintext: Uint8Array): Uint8Array {
    return this.#sodium.seal(plaintext, this.#keyPair.publicKey);
  }

  open(ciphertext: Uint8Array): Uint8Array | undefined {
    return this.#sodium.openSealed(ciphertext, this.#keyPair);
  }
}

/** A phone's key in the newer generation: a secret shared with the phone's server, identified by a number. */
export class SecretKey {
  readonly name = 'push_key_id';
  readonly id = String(randomInt(2 ** 32));
  readonly #key = new Uint8Array(randomBytes(32));

  /** The key in base64, as sent to the server. */
  get pushKey(): string {
    return Buffer.concat([Buffer.of(0x31), this.#key]).toString('base64');
  }

  seal(plaintext: Uint8Array): Uint8Array {
    const nonce = new Uint8Array(randomBytes(nonceBytes));
    return Buffer.concat([nonce, sealSecretBox(plaintext, nonce, this.#key)]);
  }

  open(ciphertext: Uint8Array): Uint8Array | undefined {
    return openSecretBox(ciphertext.slice(nonceBytes), ciphertext.slice(0, nonceBytes), this.#key);
  }
}

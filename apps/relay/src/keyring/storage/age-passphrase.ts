import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { type Identity, type Recipient, Stanza } from 'age-encryption';

/**
 * Passphrase recipient of the age format (https://age-encryption.org/v1, "The scrypt recipient type"). The age library
 * derives the key on the event loop and blocks it for seconds. Node's scrypt runs on the thread pool.
 */

const label = 'age-encryption.org/v1/scrypt';
const blockSize = 8;
const tagBytes = 16;
const zeroNonce = Buffer.alloc(12);

/** age's default: about one second of work and 256 MiB per guess. */
export const defaultScryptWorkFactor = 18;
/** Maximum work factor for decryption. A file with a higher one could keep the process busy for minutes. */
const maximumScryptWorkFactor = 20;

export function passphraseRecipient(passphrase: string, workFactor: number): Recipient {
  return {
    async wrapFileKey(fileKey) {
      const salt = randomBytes(16);
      const key = await deriveKey(passphrase, salt, workFactor);
      const cipher = createCipheriv('chacha20-poly1305', key, zeroNonce, { authTagLength: tagBytes });
      const sealed = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
      const saltText = salt.toString('base64').replace(/=+$/, '');
      return [new Stanza(['scrypt', saltText, String(workFactor)], new Uint8Array(sealed))];
    },
  };
}

export function passphraseIdentity(passphrase: string): Identity {
  return {
    async unwrapFileKey(stanzas) {
      const [stanza] = stanzas;
      if (stanzas.length !== 1 || stanza?.args[0] !== 'scrypt') return null;
      const [, saltText = '', workFactorText = ''] = stanza.args;
      const salt = Buffer.from(saltText, 'base64');
      const workFactor = Number(workFactorText);
      if (salt.length !== 16 || !/^[1-9]\d?$/.test(workFactorText) || workFactor > maximumScryptWorkFactor) {
        return null;
      }
      return openFileKey(stanza.body, await deriveKey(passphrase, salt, workFactor));
    },
  };
}

function openFileKey(sealed: Uint8Array, key: Buffer): Uint8Array | null {
  if (sealed.length !== 16 + tagBytes) return null;
  const decipher = createDecipheriv('chacha20-poly1305', key, zeroNonce, { authTagLength: tagBytes });
  decipher.setAuthTag(sealed.subarray(16));
  try {
    return new Uint8Array(Buffer.concat([decipher.update(sealed.subarray(0, 16)), decipher.final()]));
  } catch {
    // The tag does not match: wrong passphrase.
    return null;
  }
}

function deriveKey(passphrase: string, salt: Buffer, workFactor: number): Promise<Buffer> {
  const N = 2 ** workFactor;
  const parameters = { N, r: blockSize, p: 1, maxmem: 2 * 128 * N * blockSize };
  return new Promise((resolve, reject) => {
    scrypt(passphrase, Buffer.concat([Buffer.from(label), salt]), 32, parameters, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

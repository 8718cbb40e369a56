import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { Secret } from '@waxwing/service/config';
import { type CryptoKey, importPKCS8 } from 'jose';

export type SigningAlgorithm = 'RS256' | 'ES256';

export interface SigningKey {
  readonly privateKey: Secret<CryptoKey>;
  /** The public half, as SPKI in DER. */
  readonly publicKey: Buffer;
}

/** The problem of an unusable key, and the remedy. */
export interface UnusableKey {
  /** Completes "the key …". */
  readonly problem: string;
  /** Default: the caller's remedy, for example to download the key again. */
  readonly remedy?: string;
}

const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----([\s\S]*?)-----END \1-----/g;
const protectedKey: UnusableKey = {
  problem: 'has a passphrase, which the relay cannot request',
  remedy: 'remove the passphrase with openssl pkcs8 -topk8 -nocrypt',
};
const damaged: UnusableKey = { problem: 'is damaged' };
const minimumRsaBits = 2048;

/**
 * Reads a private key (PKCS #8, PKCS #1 or SEC 1) from PEM. Tolerates damage by editors, shells and environment
 * variables: line breaks that are missing or replaced by spaces or `\n`, quotes, and base64 without the PEM lines.
 * Returns `undefined` if the text contains no key.
 */
export async function readSigningKey(
  text: string,
  algorithm: SigningAlgorithm,
): Promise<SigningKey | UnusableKey | undefined> {
  // A Rich Text Format file from a word processor may contain the lines of a key but is not a key file.
  if (text.startsWith('{\\rtf')) return undefined;
  const found = findPrivateKey(text.replace(/\\+[rn]/g, '\n'));
  if (found === undefined || 'problem' in found) return found;
  const mismatch = describeMismatch(found, algorithm);
  if (mismatch !== undefined) return { problem: mismatch };
  try {
    // Normalize to PKCS #8, which every library reads.
    const pem = found.export({ type: 'pkcs8', format: 'pem' }).toString();
    const publicKey = createPublicKey(found).export({ type: 'spki', format: 'der' });
    return { privateKey: new Secret(await importPKCS8(pem, algorithm)), publicKey };
  } catch {
    // For example, the private and public halves of the key do not match.
    return damaged;
  }
}

function findPrivateKey(text: string): KeyObject | UnusableKey | undefined {
  for (const [, label = '', content = ''] of text.matchAll(pemBlock)) {
    if (label === 'OPENSSH PRIVATE KEY' || !label.endsWith('PRIVATE KEY')) continue;
    // PKCS #8 marks encryption in the label, older formats in a header (RFC 1421 section 4.6.1.1).
    if (/ENCRYPTED/.test(label + content)) return protectedKey;
    return parseKey(content) ?? damaged;
  }
  if (/-----BEGIN (?!OPENSSH|PGP)[A-Z0-9 ]*PRIVATE KEY/.test(text)) return { problem: 'is cut off' };
  return parseKey(text);
}

function parseKey(base64: string): KeyObject | undefined {
  const digits = base64.replace(/[\s"']/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(digits)) return undefined;
  const key = Buffer.from(digits, 'base64');
  // Try each format: the label may be wrong.
  for (const type of ['pkcs8', 'pkcs1', 'sec1'] as const) {
    try {
      return createPrivateKey({ key, format: 'der', type });
    } catch {
      // Not in this format: try the next one.
    }
  }
  return undefined;
}

function describeMismatch(key: KeyObject, algorithm: SigningAlgorithm): string | undefined {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (algorithm === 'ES256') {
    return namedCurve === 'prime256v1'
      ? undefined
      : `is ${describeKey(key)}, and Apple's are EC keys of P-256`;
  }
  if (key.asymmetricKeyType === 'rsa' && modulusLength >= minimumRsaBits) return undefined;
  return `is ${describeKey(key)}, and Google's are RSA keys of at least ${minimumRsaBits} bits`;
}

function describeKey({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string {
  if (type === 'rsa') return `an RSA key of ${details?.modulusLength} bits`;
  if (type === 'ec') return `an EC key of the curve ${details?.namedCurve}`;
  return `a key of the type ${type}`;
}

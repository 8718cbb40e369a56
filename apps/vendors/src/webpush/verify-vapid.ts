import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { decodeJsonWebToken } from '../json-web-token.js';

export interface VapidContext {
  /** Required value of the `aud` claim, such as `https://127.0.0.1:8333`. */
  readonly origin: string;
  readonly nowMilliseconds: number;
}

const scheme = /^vapid (?=.*\bt=([\w.-]+))(?=.*\bk=([\w-]+))/i;
const maximumLifetimeSeconds = 24 * 60 * 60;
const uncompressedPointBytes = 65;

/**
 * Verifies the `Authorization` header of a push request (https://www.rfc-editor.org/rfc/rfc8292).
 * @returns the application server's public key in base64url, or a sentence that explains the problem.
 */
export function verifyVapid(
  header: string | undefined,
  { origin, nowMilliseconds }: VapidContext,
): { readonly publicKey: string } | { readonly problem: string } {
  const [, text = '', publicKey = ''] = scheme.exec(header ?? '') ?? [];
  if (text === '') return { problem: 'there is no VAPID token: Authorization must be vapid t=…, k=…' };
  const key = readPublicKey(publicKey);
  if (key === undefined) return { problem: 'k is not an uncompressed point of P-256 in base64url' };
  const token = decodeJsonWebToken(text);
  if (token === undefined) return { problem: 't is not a JSON Web Token' };
  const { header: parameters, claims, signedText, signature } = token;
  if (parameters.alg !== 'ES256') return { problem: 'the algorithm must be ES256' };
  const isSigned = verify('sha256', Buffer.from(signedText), { key, dsaEncoding: 'ieee-p1363' }, signature);
  if (!isSigned) return { problem: 'the signature of t does not verify with the key k' };
  if (claims.aud !== origin) return { problem: `aud must be ${origin}` };
  const secondsLeft = Number(claims.exp) - nowMilliseconds / 1000;
  if (!(secondsLeft > 0 && secondsLeft <= maximumLifetimeSeconds)) {
    return { problem: 'exp must be within the next 24 hours' };
  }
  if (!/^(?:mailto:|https:\/\/)/.test(String(claims.sub))) {
    return { problem: 'sub must be a mailto: or https: URL' };
  }
  return { publicKey };
}

function readPublicKey(text: string): KeyObject | undefined {
  const point = Buffer.from(text, 'base64url');
  if (point.length !== uncompressedPointBytes || point[0] !== 4) return undefined;
  const x = point.subarray(1, 33).toString('base64url');
  const y = point.subarray(33).toString('base64url');
  try {
    return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  } catch {
    // The key is not a point on the curve.
    return undefined;
  }
}

import { type KeyObject, verify } from 'node:crypto';
import { decodeJsonWebToken } from '../json-web-token.js';
import type { OAuthErrorName } from '../reasons/oauth-errors.js';

export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKeyId: string;
  readonly publicKey: KeyObject;
}

export interface AssertionContext {
  readonly serviceAccount: ServiceAccount;
  /** Required value of the `aud` claim. */
  readonly tokenUri: string;
  readonly nowMilliseconds: number;
}

export interface OAuthRefusal {
  readonly error: OAuthErrorName;
  readonly description: string;
}

const messagingScopes = [
  'https://www.googleapis.com/auth/firebase.messaging',
  'https://www.googleapis.com/auth/cloud-platform',
];
const maximumLifetimeSeconds = 3600;
const toleratedSkewSeconds = 300;
const badTimes =
  'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.';

/**
 * Verifies the assertion that a service account exchanges for an access token.
 * https://developers.google.com/identity/protocols/oauth2/service-account and RFC 7523 section 3.
 * @returns `undefined` for a valid assertion.
 */
export function verifyAssertion(assertion: string, context: AssertionContext): OAuthRefusal | undefined {
  const { serviceAccount, tokenUri, nowMilliseconds } = context;
  const token = decodeJsonWebToken(assertion);
  if (!token) return invalidGrant('Invalid JWT: the assertion is not a JSON Web Token.');
  const { header, claims, signedText, signature } = token;
  if (header.alg !== 'RS256') return invalidGrant('Invalid JWT: the algorithm must be RS256.');
  if (claims.iss !== serviceAccount.clientEmail) return invalidGrant('Invalid grant: account not found');
  // Google tries each key of the account if the header names no key.
  const isKnownKey = header.kid === undefined || header.kid === serviceAccount.privateKeyId;
  if (!isKnownKey || !verify('sha256', Buffer.from(signedText), serviceAccount.publicKey, signature)) {
    return invalidGrant('Invalid JWT Signature.');
  }
  if (claims.aud !== tokenUri) {
    return invalidGrant(`Invalid JWT: Failed audience check. The right audience is ${tokenUri}`);
  }
  if (!areTimesGood(claims.iat, claims.exp, Math.floor(nowMilliseconds / 1000)))
    return invalidGrant(badTimes);
  return checkScope(claims.scope);
}

function areTimesGood(issuedAt: unknown, expiresAt: unknown, nowSeconds: number): boolean {
  if (typeof issuedAt !== 'number' || typeof expiresAt !== 'number') return false;
  return (
    issuedAt <= nowSeconds + toleratedSkewSeconds &&
    expiresAt > nowSeconds - toleratedSkewSeconds &&
    expiresAt > issuedAt &&
    expiresAt - issuedAt <= maximumLifetimeSeconds
  );
}

function checkScope(scope: unknown): OAuthRefusal | undefined {
  if (typeof scope !== 'string' || scope.trim() === '') {
    return { error: 'invalid_scope', description: 'Empty or missing scope not allowed.' };
  }
  if (scope.split(' ').some((one) => messagingScopes.includes(one))) return undefined;
  return {
    error: 'invalid_scope',
    description: `Invalid OAuth scope or ID token audience provided: ${messagingScopes[0]} is needed.`,
  };
}

function invalidGrant(description: string): OAuthRefusal {
  return { error: 'invalid_grant', description };
}

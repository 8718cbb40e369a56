/** A decoded compact JSON Web Token. Its signature is not verified yet. */
export interface DecodedToken {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signedText: string;
  readonly signature: Buffer;
}

const base64Url = /^[A-Za-z0-9_-]+$/;

/**
 * Decodes a compact JSON Web Token (RFC 7515 section 7.1 and RFC 7519 section 7.2): three parts in unpadded base64url,
 * where the first two are JSON objects. Returns `undefined` for any other string.
 */
export function decodeJsonWebToken(text: string): DecodedToken | undefined {
  const parts = text.split('.');
  if (parts.length !== 3 || !parts.every((part) => base64Url.test(part))) return undefined;
  const [headerPart = '', claimsPart = '', signaturePart = ''] = parts;
  const header = decodeObject(headerPart);
  const claims = decodeObject(claimsPart);
  if (header === undefined || claims === undefined) return undefined;
  return {
    header,
    claims,
    signedText: `${headerPart}.${claimsPart}`,
    signature: Buffer.from(signaturePart, 'base64url'),
  };
}

function decodeObject(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { z } from 'zod';
import { normalizeCiphertextBase64 } from './base64.js';
import { parseJsonOrUndefined } from './json.js';
import { type PushAccountId, parsePushAccountId } from './push-account-id.js';
import { parseTokenId, type TokenId } from './token-id.js';
import { uuidPattern } from './uuid.js';

// Metadata under `openApi` describes shapes that the OpenAPI generator cannot infer.

/** A UUID, matched case-insensitively. The parsed value is lowercase, as peers write it. */
export const uuid = z
  .string()
  .regex(uuidPattern, 'must be a UUID such as 9aa61d0b-8ce5-488d-8e9e-fedc346e6836')
  .transform((text) => text.toLowerCase())
  .meta({ openApi: { type: 'string', format: 'uuid' } });

/** A 64-bit integer from JSON (a number or `bigint`) or a form (decimal digits). */
export const pushAccountId = z
  .unknown()
  .transform((value, context): PushAccountId => {
    const id = parsePushAccountId(value);
    if (id === undefined) {
      context.addIssue({ code: 'custom', message: 'must be an integer of 64 bits' });
      return z.NEVER;
    }
    return id;
  })
  .meta({ openApi: { type: 'integer', format: 'int64' } });

/** A {@link TokenId} in canonical form. */
export const tokenId = z
  .custom<TokenId>((value) => parseTokenId(value) !== undefined)
  .meta({ openApi: { type: 'string' } });

/**
 * A form parameter that contains a JSON array of at most `maximum` elements. `what` describes the elements in error
 * messages.
 */
export function jsonList<Schema extends z.ZodType>(element: Schema, maximum: number, what: string) {
  const list = z.array(element).max(maximum);
  return z
    .string()
    .transform((text, context): readonly z.output<Schema>[] => {
      const parsed = list.safeParse(parseJsonOrUndefined(text));
      if (parsed.success) return parsed.data;
      const message = `must be a JSON array of at most ${maximum} ${what}`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ openApiJson: list })
    .optional();
}

/**
 * Ciphertext in base64. ASCII whitespace is removed; the remaining text must be canonical. The parsed value is
 * canonical base64.
 */
export const ciphertextBase64 = z.string('must be text').transform((text, context) => {
  const canonical = normalizeCiphertextBase64(text);
  if (canonical === undefined || canonical === '') {
    context.addIssue({ code: 'custom', message: 'must be padded standard base64' });
    return z.NEVER;
  }
  return canonical;
});

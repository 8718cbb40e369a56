import { z } from 'zod';
import { normalizeCiphertextBase64 } from './base64.js';
import { type PushAccountId, parsePushAccountId } from './push-account-id.js';
import { uuidPattern } from './uuid.js';

// Metadata under `openApi` describes shapes that the OpenAPI generator cannot infer.

/** A UUID in any letter case; the parsed value is lower case, as peers write it. */
export const uuid = z
  .string()
  .regex(uuidPattern, 'must be a UUID such as 9aa61d0b-8ce5-488d-8e9e-fedc346e6836')
  .transform((text) => text.toLowerCase())
  .meta({ openApi: { type: 'string', format: 'uuid' } });

/** A 64-bit integer from JSON (number or bigint) or a form (decimal digits). */
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

/**
 * Ciphertext in base64. ASCII whitespace is removed; the rest must be canonical. The parsed value is canonical base64.
 */
export const ciphertextBase64 = z.string('must be text').transform((text, context) => {
  const canonical = normalizeCiphertextBase64(text);
  if (canonical === undefined || canonical === '') {
    context.addIssue({ code: 'custom', message: 'must be padded standard base64' });
    return z.NEVER;
  }
  return canonical;
});

import { ApiError } from './api-error.js';
import type { FormFields } from './form.js';

/**
 * Sends a registration. If the server refuses the `token_kind` `webpush`, which stock servers do not support, sends it
 * again with `fcm`. The different kind has no other effect, because the relay uses the kind in the sealed registration.
 */
export async function withKnownTokenKind<Answer>(
  fields: FormFields,
  send: (fields: FormFields) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await send(fields);
  } catch (error) {
    const isRefused = error instanceof ApiError && error.code === 'BAD_REQUEST';
    if (!isRefused || fields.token_kind !== 'webpush') throw error;
    return send({ ...fields, token_kind: 'fcm' });
  }
}

import { ApiError } from './api-error.js';
import type { FormFields } from './form.js';

/**
 * Sends a registration again with `token_kind` `fcm` if the server refuses `webpush`: a stock server does not know that
 * kind. It makes no other difference there, because the relay follows the kind in the sealed registration.
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

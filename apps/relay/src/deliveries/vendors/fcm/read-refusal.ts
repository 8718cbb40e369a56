import { z } from 'zod';
import { readReason, type VendorRefusal } from '../vendor-answer.js';

const errorBody = z.object({
  error: z.object({
    status: z.string().optional().catch(undefined),
    message: z.string().optional().catch(undefined),
    details: z
      .array(
        z.object({
          '@type': z.string().optional(),
          errorCode: z.string().optional(),
          fieldViolations: z.array(z.object({ field: z.string().optional() })).optional(),
        }),
      )
      .catch([])
      .default([]),
  }),
});

const fcmErrorType = 'type.googleapis.com/google.firebase.fcm.v1.FcmError';
const namesToken = /not a valid FCM registration token/i;

/**
 * The reason in FCM's error body: the code of its FcmError, else the status, else `UNKNOWN`. An INVALID_ARGUMENT that
 * blames the token and nothing else is `INVALID_TOKEN`. https://firebase.google.com/docs/cloud-messaging/error-codes
 */
export function readFcmReason(body: string): VendorRefusal['reason'] {
  const parsed = errorBody.safeParse(parseOrUndefined(body));
  if (!parsed.success) return 'UNKNOWN';
  const { status, message = '', details } = parsed.data.error;
  const code = readReason(details.find((detail) => detail['@type'] === fcmErrorType)?.errorCode ?? status);
  if (code !== 'INVALID_ARGUMENT') return code;
  const blamed = details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field));
  const blamesOnlyToken = blamed.every((field) => field === 'message.token');
  return blamesOnlyToken && (blamed.length > 0 || namesToken.test(message)) ? 'INVALID_TOKEN' : code;
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's page, say: it names no reason, and the HTTP status decides.
    return undefined;
  }
}

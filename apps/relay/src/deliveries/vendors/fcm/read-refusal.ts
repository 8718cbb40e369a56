import { parseJsonOrUndefined } from '@waxwing/protocol';
import { readAnswerText } from '@waxwing/service/http';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { maximumAnswerCharacters, readReason, type VendorRefusal } from '../vendor-sender.js';

/** Maximum size of a body that is read to the end to reuse the connection. A longer body closes the connection. */
const maximumReadBytes = 128 * 1024;

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

export async function readFcmRefusal({
  statusCode,
  headers,
  body,
}: Dispatcher.ResponseData): Promise<VendorRefusal> {
  const retryAfter = headers['retry-after'];
  return {
    kind: 'refused',
    httpStatus: statusCode,
    reason: readReasonIn(await readBody(body)),
    retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
  };
}

/**
 * Reads the body of a response from Google, which is ASCII. Returns an empty string if the body is longer than {@link
 * maximumAnswerCharacters}.
 */
export async function readBody(body: Dispatcher.ResponseData['body']): Promise<string> {
  const text = (await readAnswerText(body, maximumReadBytes)) ?? '';
  return text.length > maximumAnswerCharacters ? '' : text;
}

/**
 * Extracts the reason from FCM's error body: the code of the FcmError, else the status, else `UNKNOWN`. Returns
 * `INVALID_TOKEN` for an INVALID_ARGUMENT that blames only the token.
 * https://firebase.google.com/docs/cloud-messaging/error-codes
 */
function readReasonIn(body: string): string {
  const parsed = errorBody.safeParse(parseJsonOrUndefined(body, JSON.parse));
  if (!parsed.success) return 'UNKNOWN';
  const { status, message = '', details } = parsed.data.error;
  const code = readReason(details.find((detail) => detail['@type'] === fcmErrorType)?.errorCode ?? status);
  if (code !== 'INVALID_ARGUMENT') return code;
  const blamed = details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field));
  const blamesOnlyToken = blamed.every((field) => field === 'message.token' || field === 'message.fid');
  return blamesOnlyToken && (blamed.length > 0 || namesToken.test(message)) ? 'INVALID_TOKEN' : code;
}

/** One error of FCM HTTP v1. If `isFcmError` is set, the response contains an FcmError in addition to the status. */
interface GoogleError {
  readonly httpStatus: number;
  readonly status: string;
  readonly isFcmError: boolean;
  readonly message: string;
}

const requestedEntity = 'Requested entity was not found.';

/**
 * All FCM errors, by the name that clients check. The first error with an HTTP status is the default for that status.
 * https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode and, for errors without FcmError,
 * https://cloud.google.com/apis/design/errors
 */
export const googleErrors = {
  INVALID_ARGUMENT: row(
    400,
    'INVALID_ARGUMENT',
    true,
    'The registration token is not a valid FCM registration token',
  ),
  FAILED_PRECONDITION: row(400, 'FAILED_PRECONDITION', false, 'Precondition check failed.'),
  UNAUTHENTICATED: row(
    401,
    'UNAUTHENTICATED',
    false,
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.',
  ),
  THIRD_PARTY_AUTH_ERROR: row(401, 'UNAUTHENTICATED', true, 'Auth error from APNS or Web Push Service'),
  PERMISSION_DENIED: row(403, 'PERMISSION_DENIED', false, 'The caller does not have permission'),
  SENDER_ID_MISMATCH: row(403, 'PERMISSION_DENIED', true, 'SenderId mismatch'),
  UNREGISTERED: row(404, 'NOT_FOUND', true, requestedEntity),
  NOT_FOUND: row(404, 'NOT_FOUND', false, requestedEntity),
  QUOTA_EXCEEDED: row(429, 'RESOURCE_EXHAUSTED', true, 'Sending quota exceeded for the message target'),
  RESOURCE_EXHAUSTED: row(
    429,
    'RESOURCE_EXHAUSTED',
    false,
    'Resource has been exhausted (e.g. check quota).',
  ),
  INTERNAL: row(500, 'INTERNAL', true, 'Internal error encountered.'),
  UNSPECIFIED_ERROR: row(500, 'UNKNOWN', true, 'Unknown error.'),
  UNAVAILABLE: row(503, 'UNAVAILABLE', true, 'The service is currently unavailable.'),
} as const satisfies Record<string, GoogleError>;

export type GoogleErrorName = keyof typeof googleErrors;

export interface GoogleErrorOptions {
  /** Overrides the default HTTP status. */
  readonly httpStatus?: number | undefined;
  /** Overrides the default message. */
  readonly message?: string | undefined;
  /** Path of the invalid field, such as `message.data`. */
  readonly field?: string | undefined;
  /** Overrides whether the response has an FcmError. */
  readonly isFcmError?: boolean;
  /** Further entries of `details`. */
  readonly details?: readonly object[];
}

/**
 * Formats an error body as Google does. For an unknown name, formats an FcmError with status UNKNOWN, so that tests can
 * send errors that clients do not know.
 */
export function formatGoogleError(name: string, options: GoogleErrorOptions = {}): string {
  const known: GoogleError = isGoogleErrorName(name)
    ? googleErrors[name]
    : { httpStatus: 500, status: 'UNKNOWN', isFcmError: true, message: 'Unknown error.' };
  const {
    httpStatus = known.httpStatus,
    message = known.message,
    isFcmError = known.isFcmError,
    field,
  } = options;
  const details: object[] = [...(options.details ?? [])];
  if (isFcmError) {
    details.push({ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: name });
  }
  if (name === 'QUOTA_EXCEEDED') {
    details.push({
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: [{ subject: 'device', description: message }],
    });
  }
  if (field !== undefined) {
    details.push({
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: [{ field, description: message }],
    });
  }
  const error = { code: httpStatus, message, status: known.status, ...(details.length > 0 && { details }) };
  return JSON.stringify({ error });
}

function isGoogleErrorName(name: string): name is GoogleErrorName {
  return Object.hasOwn(googleErrors, name);
}

function row(httpStatus: number, status: string, isFcmError: boolean, message: string): GoogleError {
  return { httpStatus, status, isFcmError, message };
}

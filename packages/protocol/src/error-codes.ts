/**
 * What a client can do about an error. Intended for programs, not for users.
 *
 * - `fix-request`: change the request
 * - `retry-later`: send the same request again later, with backoff
 * - `retry-fresh`: start over with a new request
 * - `update-app`: fetch the newest key list, or update the app
 * - `ask-admin`: only an administrator can fix the problem
 */
export type Remedy = 'fix-request' | 'retry-later' | 'retry-fresh' | 'update-app' | 'ask-admin';

interface ErrorCodeRow {
  readonly httpStatus: number;
  readonly message: string;
  readonly remedy: Remedy;
}

/**
 * All error codes on the wire, with HTTP status, default message and remedy. Peers match the codes and messages of the
 * push operations exactly (docs/protocol.md#error-codes). `docs/errors.md` explains each row.
 */
export const errorCodes = Object.freeze({
  BAD_REQUEST: { httpStatus: 400, message: 'Bad request', remedy: 'fix-request' },
  REQUEST_VARIABLE_MISSING: { httpStatus: 400, message: 'Missing argument', remedy: 'fix-request' },
  REQUEST_CONFUSING_VAR: { httpStatus: 400, message: 'Conflicting arguments', remedy: 'fix-request' },
  REQUEST_VARIABLE_INVALID: { httpStatus: 400, message: 'Invalid argument', remedy: 'fix-request' },
  UNAUTHORIZED: { httpStatus: 401, message: 'Missing or invalid credentials', remedy: 'fix-request' },
  INVALID_API_KEY: { httpStatus: 401, message: 'Invalid API key', remedy: 'ask-admin' },
  AUTHENTICATION_FAILED: {
    httpStatus: 401,
    message: 'Your username or password is incorrect',
    remedy: 'fix-request',
  },
  USER_DEACTIVATED: { httpStatus: 401, message: 'Account is deactivated', remedy: 'ask-admin' },
  NOT_FOUND: { httpStatus: 404, message: 'No such operation', remedy: 'fix-request' },
  METHOD_NOT_ALLOWED: { httpStatus: 405, message: 'Method not allowed', remedy: 'fix-request' },
  REQUEST_TIMEOUT: { httpStatus: 408, message: 'The request did not arrive in time', remedy: 'retry-later' },
  PAYLOAD_TOO_LARGE: { httpStatus: 413, message: 'Request body too large', remedy: 'fix-request' },
  UNSUPPORTED_MEDIA_TYPE: { httpStatus: 415, message: 'Unsupported content type', remedy: 'fix-request' },
  REQUEST_HEADERS_TOO_LARGE: {
    httpStatus: 431,
    message: 'The request line and headers are too large: send parameters in the body',
    remedy: 'fix-request',
  },
  RATE_LIMIT_HIT: { httpStatus: 429, message: 'API usage exceeded rate limit', remedy: 'retry-later' },
  INTERNAL_SERVER_ERROR: { httpStatus: 500, message: 'Internal server error', remedy: 'retry-later' },
  SERVICE_UNAVAILABLE: { httpStatus: 503, message: 'Service temporarily unavailable', remedy: 'retry-later' },

  PUSH_SERVICE_NOT_CONFIGURED: {
    httpStatus: 400,
    message: 'Server is not configured to use push notification service.',
    remedy: 'ask-admin',
  },
  INVALID_BOUNCER_PUBLIC_KEY: {
    httpStatus: 400,
    message: 'Invalid bouncer_public_key',
    remedy: 'update-app',
  },
  REQUEST_EXPIRED: { httpStatus: 400, message: 'Request expired', remedy: 'retry-fresh' },
  MISSING_REMOTE_REALM: { httpStatus: 403, message: 'Organization not registered', remedy: 'ask-admin' },
  REMOTE_REALM_SERVER_MISMATCH_ERROR: {
    httpStatus: 403,
    message:
      'Your organization is registered to a different Zulip server. Ask the operator of the push notification service to resolve this.',
    remedy: 'ask-admin',
  },
  INVALID_ZULIP_SERVER: {
    httpStatus: 400,
    message: 'Zulip server auth failure: key does not match role',
    remedy: 'ask-admin',
  },
  INVALID_REMOTE_PUSH_DEVICE_TOKEN: {
    httpStatus: 400,
    message: 'Device not recognized by the push bouncer',
    remedy: 'fix-request',
  },
  HOSTNAME_ALREADY_IN_USE_BOUNCER_ERROR: {
    httpStatus: 400,
    message: 'A server with this hostname already exists',
    remedy: 'ask-admin',
  },
  REMOTE_SERVER_VERIFICATION_SECRET_NOT_PREPARED: {
    httpStatus: 400,
    message: 'Verification secret not prepared',
    remedy: 'ask-admin',
  },

  NO_ACTIVE_PUSH_DEVICE: {
    httpStatus: 400,
    message: 'No active registered push device',
    remedy: 'retry-fresh',
  },
  FAILED_TO_CONNECT_BOUNCER: {
    httpStatus: 502,
    message: 'Network error while connecting to Zulip push notification service.',
    remedy: 'retry-later',
  },
  INTERNAL_SERVER_ERROR_ON_BOUNCER: {
    httpStatus: 502,
    message: 'Internal server error on Zulip push notification service, retry later.',
    remedy: 'retry-later',
  },
  ADMIN_ACTION_REQUIRED: {
    httpStatus: 403,
    message:
      'Push notification configuration issue on server, contact the server administrator or retry later.',
    remedy: 'ask-admin',
  },

  BAD_EVENT_QUEUE_ID: { httpStatus: 400, message: 'Bad event queue ID', remedy: 'retry-fresh' },
  CHANNEL_ALREADY_EXISTS: { httpStatus: 409, message: 'Channel already exists', remedy: 'fix-request' },
  UNAUTHORIZED_PRINCIPAL: { httpStatus: 400, message: 'Insufficient permission', remedy: 'ask-admin' },
  EXPECTATION_MISMATCH: {
    httpStatus: 400,
    message: 'What was to be changed is not as expected',
    remedy: 'retry-fresh',
  },
  SYSTEM_GROUP_REQUIRED: { httpStatus: 400, message: 'Only a role group is allowed', remedy: 'fix-request' },
  CANNOT_DEACTIVATE_GROUP_IN_USE: {
    httpStatus: 400,
    message: 'Cannot deactivate user group in use',
    remedy: 'fix-request',
  },
  REALM_UPLOAD_QUOTA: {
    httpStatus: 400,
    message: "Upload would exceed your organization's upload quota.",
    remedy: 'ask-admin',
  },
  BAD_IMAGE: { httpStatus: 400, message: 'Could not decode image', remedy: 'fix-request' },
  STREAM_WILDCARD_MENTION_NOT_ALLOWED: {
    httpStatus: 400,
    message: 'You do not have permission to use channel wildcard mentions in this channel.',
    remedy: 'ask-admin',
  },
  TOPIC_WILDCARD_MENTION_NOT_ALLOWED: {
    httpStatus: 400,
    message: 'You do not have permission to use topic wildcard mentions in this topic.',
    remedy: 'ask-admin',
  },
  MOVE_MESSAGES_TIME_LIMIT_EXCEEDED: {
    httpStatus: 400,
    message: 'Some messages of this topic are too old for you to move them',
    remedy: 'fix-request',
  },
  STREAM_DOES_NOT_EXIST: { httpStatus: 400, message: 'Channel does not exist', remedy: 'fix-request' },
  BAD_NARROW: { httpStatus: 400, message: 'Invalid narrow', remedy: 'fix-request' },

  ADMIN_TOKEN_WRONG: { httpStatus: 401, message: 'This is not the admin token', remedy: 'fix-request' },
  ADMIN_SESSION_REQUIRED: {
    httpStatus: 401,
    message: 'The session has ended: sign in again',
    remedy: 'retry-fresh',
  },
  ADMIN_REQUEST_FOREIGN: {
    httpStatus: 403,
    message: 'Only a page of this relay may send this request',
    remedy: 'fix-request',
  },
} as const satisfies Record<string, ErrorCodeRow>);

/** A code of {@link errorCodes}. */
export type ErrorCode = keyof typeof errorCodes;

/** Returns whether an untrusted value is a code of {@link errorCodes}. */
export function isErrorCode(text: unknown): text is ErrorCode {
  return typeof text === 'string' && Object.hasOwn(errorCodes, text);
}

/**
 * Refusals of a push service with their HTTP status. The names are the stand-ins' own, because RFC 8030 defines only
 * statuses. The first reason with a status is the default reason for that status.
 * https://www.rfc-editor.org/rfc/rfc8030 and https://www.rfc-editor.org/rfc/rfc8292
 */
export const pushServiceReasons = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  Gone: 410,
  PayloadTooLarge: 413,
  UnsupportedEncoding: 415,
  TooManyRequests: 429,
  InternalServerError: 500,
  ServiceUnavailable: 503,
} as const;

export type PushServiceReason = keyof typeof pushServiceReasons;

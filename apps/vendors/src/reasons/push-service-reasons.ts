/**
 * Refusals of a push service with their HTTP status, by our own names: RFC 8030 has statuses only. The first reason with
 * a status is its default. https://www.rfc-editor.org/rfc/rfc8030 and https://www.rfc-editor.org/rfc/rfc8292
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

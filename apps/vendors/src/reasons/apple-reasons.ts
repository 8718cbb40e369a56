/**
 * All APNs error reasons with their HTTP status. The first reason with a status is the default reason for that status.
 * https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
 */
export const appleReasons = {
  BadDeviceToken: 400,
  BadCollapseId: 400,
  BadExpirationDate: 400,
  BadMessageId: 400,
  BadPriority: 400,
  BadTopic: 400,
  DeviceTokenNotForTopic: 400,
  DuplicateHeaders: 400,
  IdleTimeout: 400,
  InvalidPushType: 400,
  MissingDeviceToken: 400,
  MissingTopic: 400,
  PayloadEmpty: 400,
  TopicDisallowed: 400,
  InvalidProviderToken: 403,
  BadCertificate: 403,
  BadCertificateEnvironment: 403,
  BadEnvironmentKeyIdInToken: 403,
  ExpiredProviderToken: 403,
  Forbidden: 403,
  MissingProviderToken: 403,
  UnrelatedKeyIdInToken: 403,
  BadPath: 404,
  MethodNotAllowed: 405,
  Unregistered: 410,
  ExpiredToken: 410,
  PayloadTooLarge: 413,
  TooManyRequests: 429,
  TooManyProviderTokenUpdates: 429,
  InternalServerError: 500,
  ServiceUnavailable: 503,
  Shutdown: 503,
} as const;

export type AppleReason = keyof typeof appleReasons;

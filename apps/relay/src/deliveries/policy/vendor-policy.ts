import type { DeliveryFault } from '@waxwing/protocol';
import type { UnansweredReason } from '../vendors/vendor-sender.js';
import type { RetryScheduleName } from './retry-schedules.js';

/** How to try once more at once, before the rest of the row counts. */
type RepeatAtOnce =
  /** The token may belong to Apple's other system. */
  | 'other-environment'
  /** The credential may only be too old. */
  | 'fresh-token'
  /** The connection is at fault, not the notification; the sender leaves that connection by itself. */
  | 'again';

/** What a vendor's reason means for one notification. */
export type PolicyRow = { readonly repeatAtOnce?: RepeatAtOnce } & (
  | {
      readonly outcome: 'gone';
      /** Whether the vendor says since when; then the token dies only if it was not registered later. */
      readonly isDated: boolean;
    }
  | { readonly outcome: 'retry'; readonly schedule: RetryScheduleName }
  | { readonly outcome: 'rejected'; readonly fault: DeliveryFault }
  /** The vendor names the credential itself: no token can bring that about. */
  | { readonly outcome: 'credential-trouble' }
  /** The credential may be at fault or this token alone: it counts when several tokens say so. */
  | { readonly outcome: 'credential-suspected' }
  /** New provider tokens came too often: the credential rests until a new one may be made. */
  | { readonly outcome: 'mint-throttled' }
);

const gone = { outcome: 'gone', isDated: false } as const;
const goneSince = { outcome: 'gone', isDated: true } as const;
const ourMistake = { outcome: 'rejected', fault: 'relay' } as const;
const configuration = { outcome: 'rejected', fault: 'relay-configuration' } as const;
const registration = { outcome: 'rejected', fault: 'registration' } as const;
const credential = { outcome: 'credential-trouble' } as const;
const perhapsCredential = { outcome: 'credential-suspected' } as const;
const fcmUnavailable = { outcome: 'retry', schedule: 'fcmUnavailable' } as const;
const apnsUnavailable = { outcome: 'retry', schedule: 'apnsUnavailable' } as const;

/**
 * FCM's error codes, and the statuses of answers that carry none.
 * https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
 */
export const fcmPolicy = {
  UNREGISTERED: gone,
  // INVALID_ARGUMENT that names the token: the rest of the message is of a shape that FCM takes every day.
  INVALID_TOKEN: gone,
  INVALID_ARGUMENT: ourMistake,
  FAILED_PRECONDITION: ourMistake,
  // The token belongs to another Firebase project: here the wrong project may be configured, so it never deletes.
  SENDER_ID_MISMATCH: configuration,
  UNAUTHENTICATED: { repeatAtOnce: 'fresh-token', ...credential },
  // Firebase's own key for APNs or web push, which only some tokens need.
  THIRD_PARTY_AUTH_ERROR: perhapsCredential,
  // The service account has no right to send for the project, whatever the message.
  PERMISSION_DENIED: credential,
  // Without FcmError: there is no such project, or no such token.
  NOT_FOUND: perhapsCredential,
  QUOTA_EXCEEDED: { outcome: 'retry', schedule: 'fcmQuota' },
  RESOURCE_EXHAUSTED: { outcome: 'retry', schedule: 'fcmQuota' },
  INTERNAL: fcmUnavailable,
  UNSPECIFIED_ERROR: fcmUnavailable,
  UNAVAILABLE: fcmUnavailable,
  // From the token endpoint, before FCM was asked: https://www.rfc-editor.org/rfc/rfc6749#section-5.2
  OAUTH_REFUSED: credential,
  OAUTH_UNAVAILABLE: fcmUnavailable,
} as const satisfies Record<string, PolicyRow>;

/** Apple's reasons. https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns */
export const apnsPolicy = {
  Unregistered: goneSince,
  ExpiredToken: goneSince,
  BadDeviceToken: { repeatAtOnce: 'other-environment', ...gone },
  // The topic is the registration's own, yet an app served with the wrong team's key looks the same: it never deletes.
  DeviceTokenNotForTopic: registration,
  BadTopic: registration,
  TopicDisallowed: configuration,
  MissingDeviceToken: registration,
  BadCollapseId: ourMistake,
  BadExpirationDate: ourMistake,
  BadMessageId: ourMistake,
  BadPriority: ourMistake,
  DuplicateHeaders: ourMistake,
  InvalidPushType: ourMistake,
  MissingTopic: ourMistake,
  PayloadEmpty: ourMistake,
  PayloadTooLarge: ourMistake,
  BadPath: ourMistake,
  MethodNotAllowed: ourMistake,
  IdleTimeout: { repeatAtOnce: 'again', ...apnsUnavailable },
  ExpiredProviderToken: { repeatAtOnce: 'fresh-token', ...credential },
  // The phone chose the environment and the app, which a key may be restricted to.
  UnrelatedKeyIdInToken: { repeatAtOnce: 'again', ...perhapsCredential },
  BadEnvironmentKeyIdInToken: perhapsCredential,
  Forbidden: perhapsCredential,
  InvalidProviderToken: credential,
  MissingProviderToken: credential,
  BadCertificate: credential,
  BadCertificateEnvironment: credential,
  TooManyProviderTokenUpdates: { outcome: 'mint-throttled' },
  TooManyRequests: { outcome: 'retry', schedule: 'apnsDeviceThrottle' },
  InternalServerError: apnsUnavailable,
  ServiceUnavailable: apnsUnavailable,
  Shutdown: { repeatAtOnce: 'again', ...apnsUnavailable },
} as const satisfies Record<string, PolicyRow>;

/** What happens below the vendors' protocols; the senders have already repeated what was provably not processed. */
export const unansweredPolicy = {
  NOT_CONNECTED: { outcome: 'retry', schedule: 'unseen' },
  NOT_PROCESSED: { outcome: 'retry', schedule: 'unseen' },
  OVERLOADED: { outcome: 'retry', schedule: 'unseen' },
  TIMED_OUT: { outcome: 'retry', schedule: 'ambiguous' },
  BROKEN_OFF: { outcome: 'retry', schedule: 'ambiguous' },
} as const satisfies Record<UnansweredReason, PolicyRow>;

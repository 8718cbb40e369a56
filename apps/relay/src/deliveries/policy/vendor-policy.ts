import type { DeliveryFault } from '@waxwing/protocol';
import type { Vendor } from '../delivery.js';
import type { UnansweredReason } from '../vendors/vendor-sender.js';
import type { RetryScheduleName } from './retry-schedules.js';

/** An immediate second attempt, before the rest of the row applies. */
type RepeatAtOnce =
  /** The token may belong to Apple's other environment. */
  | 'other-environment'
  /** The credential may be too old. */
  | 'fresh-token'
  /** The connection is at fault, not the notification. The sender retires that connection itself. */
  | 'again';

/** What the relay does with a notification when the vendor gives a certain reason. */
export type PolicyRow = { readonly repeatAtOnce?: RepeatAtOnce } & (
  | {
      readonly outcome: 'gone';
      /** Whether the vendor says when the token died. A device that registered after that time keeps its token. */
      readonly isDated: boolean;
      /** Whether to retry for a new installation: the relay may know its id before the vendor does. */
      readonly sparesNewInstallations?: true;
    }
  | { readonly outcome: 'retry'; readonly schedule: RetryScheduleName }
  | { readonly outcome: 'rejected'; readonly fault: DeliveryFault }
  /** The vendor blames the credential explicitly. No token can cause such a response. */
  | { readonly outcome: 'credential-trouble' }
  /** Either the credential or this token is at fault. If several tokens get this response, the credential is blamed. */
  | { readonly outcome: 'credential-suspected' }
  /** Provider tokens were minted too often: notifications wait until a new token may be minted. */
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
const webPushUnavailable = { outcome: 'retry', schedule: 'webPushUnavailable' } as const;
const webPushSuspected = { outcome: 'retry', schedule: 'credentialSuspected' } as const;
const apnsUnavailable = { outcome: 'retry', schedule: 'apnsUnavailable' } as const;

/**
 * FCM's error codes, and the statuses of responses without an error code.
 * https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
 */
export const fcmPolicy = {
  UNREGISTERED: { ...gone, sparesNewInstallations: true },
  // The relay's name for an INVALID_ARGUMENT that blames only the token. The rest of the message is known to be valid.
  INVALID_TOKEN: gone,
  INVALID_ARGUMENT: ourMistake,
  FAILED_PRECONDITION: ourMistake,
  // The token belongs to another Firebase project. The device is kept: the relay may be configured with the wrong
  // project.
  SENDER_ID_MISMATCH: configuration,
  UNAUTHENTICATED: { repeatAtOnce: 'fresh-token', ...credential },
  // The APNs or Web Push key in the app's Firebase project is wrong. Only some tokens need that key.
  THIRD_PARTY_AUTH_ERROR: perhapsCredential,
  // The service account has no permission to send messages for the project.
  PERMISSION_DENIED: credential,
  // The response has no FcmError: either the project or the token does not exist.
  NOT_FOUND: perhapsCredential,
  QUOTA_EXCEEDED: { outcome: 'retry', schedule: 'fcmQuota' },
  RESOURCE_EXHAUSTED: { outcome: 'retry', schedule: 'fcmQuota' },
  INTERNAL: fcmUnavailable,
  UNSPECIFIED_ERROR: fcmUnavailable,
  UNAVAILABLE: fcmUnavailable,
  // Errors of the OAuth token endpoint, before FCM is called: https://www.rfc-editor.org/rfc/rfc6749#section-5.2
  OAUTH_REFUSED: credential,
  OAUTH_UNAVAILABLE: fcmUnavailable,
} as const satisfies Record<string, PolicyRow>;

/**
 * Apple's reasons.
 * https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
 */
export const apnsPolicy = {
  Unregistered: goneSince,
  ExpiredToken: goneSince,
  BadDeviceToken: { repeatAtOnce: 'other-environment', ...gone },
  // The phone's registration chose the topic. The device is kept, because an app configured with another team's key
  // causes the same response.
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
  // Apple can restrict a key to one environment and some apps. The phone chose the environment and the app, so the key
  // may still be right.
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

/**
 * The relay's names for the HTTP statuses of push services (https://www.rfc-editor.org/rfc/rfc8030). No status counts
 * against the VAPID key: phones choose their push services, so one host could block delivery through all others.
 */
export const webPushPolicy = {
  SUBSCRIPTION_UNKNOWN: gone,
  SUBSCRIPTION_GONE: gone,
  // The clock is wrong, or the subscription is bound to another key pair. The device is kept: the relay may have lost
  // its key.
  UNAUTHORIZED: webPushSuspected,
  FORBIDDEN: webPushSuspected,
  // Some push services respond with this status when they refuse a VAPID token.
  BAD_REQUEST: registration,
  BODY_TOO_LARGE: { outcome: 'rejected', fault: 'server' },
  TOO_MANY_REQUESTS: { outcome: 'retry', schedule: 'webPushThrottle' },
  SERVICE_UNAVAILABLE: webPushUnavailable,
  // A status that is meaningless for a POST, or a redirect, which the relay does not follow.
  UNEXPECTED_ANSWER: { outcome: 'rejected', fault: 'vendor' },
} as const satisfies Record<string, PolicyRow>;

/** The relay's policy for each vendor's responses and for retries. */
export const vendorPolicies: Readonly<Record<Vendor, VendorPolicy>> = {
  fcm: { reasons: fcmPolicy, throttled: 'fcmQuota', unavailable: 'fcmUnavailable' },
  apns: { reasons: apnsPolicy, throttled: 'apnsDeviceThrottle', unavailable: 'apnsUnavailable' },
  webpush: { reasons: webPushPolicy, throttled: 'webPushThrottle', unavailable: 'webPushUnavailable' },
};

interface VendorPolicy {
  readonly reasons: Readonly<Record<string, PolicyRow>>;
  /** Fallback for an unknown reason with status 429. */
  readonly throttled: RetryScheduleName;
  /** Fallback for an unknown reason with a status of 500 or more. */
  readonly unavailable: RetryScheduleName;
}

/** Policy for requests without an answer. Senders have already resent requests that were provably not processed. */
export const unansweredPolicy = {
  NOT_CONNECTED: { outcome: 'retry', schedule: 'unseen' },
  NOT_PROCESSED: { outcome: 'retry', schedule: 'unseen' },
  OVERLOADED: { outcome: 'retry', schedule: 'unseen' },
  TIMED_OUT: { outcome: 'retry', schedule: 'ambiguous' },
  BROKEN_OFF: { outcome: 'retry', schedule: 'ambiguous' },
  ENDPOINT_REFUSED: registration,
  // Registering again would not help: the operator has to list the host.
  HOST_NOT_SERVED: configuration,
} as const satisfies Record<UnansweredReason, PolicyRow>;

/** Maximum age of a registration when it arrives at the relay, in seconds (inclusive). */
export const livenessTimeoutSeconds = 86_400;

/** Maximum length of a push token, in Unicode code points. */
export const maximumTokenCodePoints = 4096;

/** Maximum length of a Web Push subscription's endpoint, in characters. */
export const maximumPushEndpointCharacters = 2048;

/** Maximum length of an iOS app's bundle id, in characters (Apple allows 155). */
export const maximumIosAppIdCharacters = 255;

/**
 * Maximum length of `encrypted_push_registration`, in base64 characters. Large enough, after sealing and encoding, for
 * a token of 4096 code points, each written as two JSON `\u` escapes (12 bytes), and for the other fields.
 */
export const maximumEncryptedPushRegistrationCharacters = 72_000;

/**
 * Sizes, in bytes, of a registration's JSON after our client has padded it for sealing. Nearly all tokens fit into the
 * smallest size. Every allowed token fits into the largest size, which stays below
 * {@link maximumEncryptedPushRegistrationCharacters}.
 */
export const registrationSizeBucketsBytes = [512, 1024, 2048, 4096, 8192, 16_384, 32_768] as const;

/** Maximum number of PushDevices per user. */
export const maximumPushDevicesPerUser = 1000;

/** Request body limits in bytes. */
export const registerBodyLimitBytes = 128 * 1024;
export const notifyBodyLimitBytes = 1024 * 1024;

/**
 * Maximum size of an APNs body, and of the keys and values of FCM data, in bytes (according to the vendors'
 * documentation).
 */
export const vendorPayloadLimitBytes = 4096;

/**
 * Sizes, in bytes, of a notification's JSON after it has been padded for sealing. The length of a sealed notification
 * reveals only the bucket. Even in the largest bucket, the bodies of both vendors stay below 4096 bytes after sealing
 * and base64 encoding.
 */
export const notificationSizeBucketsBytes = [512, 1024, 2048, 2800] as const;

/** Maximum size of a notification's JSON, in bytes. */
export const maximumNotificationBytes = 2800;

/** Maximum time that a vendor stores a notification for an unreachable phone, in seconds (28 days, FCM's limit). */
export const maximumTimeToLiveSeconds = 2_419_200;

/** Maximum length of a collapse id, in bytes (APNs' limit). */
export const maximumCollapseIdBytes = 64;

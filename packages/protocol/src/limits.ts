/** Longest time between sealing a registration and its arrival at the relay, in seconds; exactly this age still passes. */
export const livenessTimeoutSeconds = 86_400;

/** Longest push token, in Unicode code points. */
export const maximumTokenCodePoints = 4096;

/** Longest bundle id of an iOS app (Apple allows 155). */
export const maximumIosAppIdCharacters = 255;

/**
 * Longest `encrypted_push_registration`, in base64 characters: a token of 4096 code points, each written as two
 * JSON `\u` escapes (12 bytes), with room for the other fields, sealed and encoded.
 */
export const maximumEncryptedPushRegistrationCharacters = 72_000;

/**
 * Sizes in bytes that our client pads a registration's JSON to before sealing it. Nearly every token fits the first;
 * the largest takes any token that is allowed, and stays below `maximumEncryptedPushRegistrationCharacters`.
 */
export const registrationSizeBucketsBytes = [512, 1024, 2048, 4096, 8192, 16_384, 32_768] as const;

/** Most PushDevices of one user. */
export const maximumPushDevicesPerUser = 1000;

/** Request body limits in bytes. */
export const registerBodyLimitBytes = 128 * 1024;
export const notifyBodyLimitBytes = 1024 * 1024;

/** Most bytes of an APNs body, and of the keys and values of FCM data (vendors' documentation). */
export const vendorPayloadLimitBytes = 4096;

/**
 * Sizes in bytes that a notification's JSON is padded to before sealing, so that its length tells an observer only
 * the bucket. The largest, sealed and base64-encoded, leaves both vendors' bodies below 4096 bytes.
 */
export const notificationSizeBucketsBytes = [512, 1024, 2048, 2800] as const;

/** Most bytes of one notification's JSON. */
export const maximumNotificationBytes = 2800;

/** Longest time that a vendor keeps a notification for a phone that is off, in seconds (28 days, FCM's limit). */
export const maximumTimeToLiveSeconds = 2_419_200;

/** Longest collapse id, in bytes (APNs' limit). */
export const maximumCollapseIdBytes = 64;

/** Number of bytes in a MiB. */
export const mebibyte = 1024 * 1024;

/** Maximum size of an uploaded file, in MiB. */
export const maximumUploadMib = 100;

/** Maximum size of a user's avatar, in MiB. */
export const maximumAvatarMib = 5;

/** Maximum length of the welcome message for new users, in characters. */
export const maximumWelcomeCharacters = 8000;

/** Body limit of requests with a welcome message, in bytes: a character takes up to twelve bytes in a form. */
export const welcomeBodyLimitBytes = 256 * 1024;

/**
 * Maximum text lengths in Unicode code points, and the display name of the empty topic. Clients read these values from
 * the register response.
 */
export const realmLimits = {
  max_topic_length: 60,
  max_message_length: 10_000,
  max_stream_name_length: 60,
  max_stream_description_length: 1024,
  max_channel_folder_name_length: 60,
  max_channel_folder_description_length: 1024,
  realm_empty_topic_display_name: 'general chat',
} as const;

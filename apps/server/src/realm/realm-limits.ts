/**
 * The generation of the chat API that is served. 431 is the last level at which a push device is known by
 * `push_account_id` and `push_public_key`: from 432 on clients send a `push_key` instead.
 */
export const featureLevel = 431;

/** The generation in words, for people; clients compare the numbers that it begins with. */
export const serverVersion = { zulip_version: '12.0-dev+waxwing', zulip_merge_base: '12.0-dev' } as const;

/** Bytes of a MiB. */
export const mebibyte = 1024 * 1024;

/** Largest file that can be uploaded. */
export const maximumUploadMib = 100;

/** Largest picture of a user. */
export const maximumAvatarMib = 5;

/** Longest text that a new user is welcomed with. */
export const maximumWelcomeCharacters = 8000;

/** Largest request with such a text, of which a character can take twelve bytes of a form. */
export const welcomeBodyLimitBytes = 256 * 1024;

/** Longest texts in Unicode code points, and what stands for the empty topic; clients read them from the register answer. */
export const realmLimits = {
  max_topic_length: 60,
  max_message_length: 10_000,
  max_stream_name_length: 60,
  max_stream_description_length: 1024,
  max_channel_folder_name_length: 60,
  max_channel_folder_description_length: 1024,
  realm_empty_topic_display_name: 'general chat',
} as const;

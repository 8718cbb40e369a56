/** The path of the emoji names. */
export const emojiDataPath = '/api/v1/emoji_data';

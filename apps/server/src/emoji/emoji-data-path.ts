/** Where clients fetch the names of emoji. */
export const emojiDataPath = '/api/v1/emoji_data';

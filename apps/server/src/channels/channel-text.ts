import { refused } from '@waxwing/protocol';
import { z } from 'zod';
import { realmLimits } from '../realm/realm-limits.js';
import { textOfAtMost } from '../realm/setting-shapes.js';

const { max_stream_name_length: maximumNameCharacters } = realmLimits;

/** What is nothing to read: control characters, line ends, and code points that nobody has given a meaning. */
const unprintable = /[\p{Cc}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]/u;

/**
 * A channel's name without the blanks around it.
 * @throws ProtocolError BAD_REQUEST where nothing is left, where it is too long, and where a character is not printable.
 */
export function checkedChannelName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw refused("Channel name can't be empty.");
  const characters = [...trimmed];
  if (characters.length > maximumNameCharacters) {
    throw refused(`Channel name too long (limit: ${maximumNameCharacters} characters).`);
  }
  const position = characters.findIndex((character) => unprintable.test(character));
  if (position >= 0) throw refused(`Invalid character in channel name, at position ${position + 1}.`);
  return trimmed;
}

/** A channel's description as it comes: on one line. */
export const channelDescription = textOfAtMost(realmLimits.max_stream_description_length).transform((text) =>
  text.replace(/\r\n|[\r\n]/g, ' '),
);

/** The same within JSON. */
export const channelDescriptionInJson: z.ZodType<string> = z
  .string('must be a text')
  .pipe(channelDescription);

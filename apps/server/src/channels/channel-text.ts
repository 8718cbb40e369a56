import { refused } from '@waxwing/protocol';
import { z } from 'zod';
import { realmLimits } from '../realm/realm-limits.js';
import { textOfAtMost } from '../realm/setting-shapes.js';

const { max_stream_name_length: maximumNameCharacters } = realmLimits;

/** Unprintable characters: control characters, line and paragraph separators, surrogates and unassigned code points. */
const unprintable = /[\p{Cc}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]/u;

/**
 * Trims a channel's name and checks it.
 * @throws ProtocolError BAD_REQUEST if it is empty, too long or has an unprintable character.
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

/** A channel's description as a parameter. Line breaks become spaces. */
export const channelDescription = textOfAtMost(realmLimits.max_stream_description_length).transform((text) =>
  text.replace(/\r\n|[\r\n]/g, ' '),
);

/** {@link channelDescription} as a JSON value. */
export const channelDescriptionInJson: z.ZodType<string> = z
  .string('must be a text')
  .pipe(channelDescription);

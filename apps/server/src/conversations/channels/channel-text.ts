import { refused } from '@waxwing/protocol';
import { z } from 'zod';
import { realmLimits } from '../../people/realm/realm-limits.js';
import { textOfAtMost } from '../../people/realm/setting-shapes.js';
import { nameProblem } from '../../platform/names/name-problem.js';

const { max_stream_name_length: maximumNameCharacters } = realmLimits;

/**
 * Trims and validates a channel name.
 * @throws ProtocolError BAD_REQUEST if the name is empty, is too long, or has characters that {@link nameProblem}
 * rejects.
 */
export function checkedChannelName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw refused("Channel name can't be empty.");
  if ([...trimmed].length > maximumNameCharacters) {
    throw refused(`Channel name too long (limit: ${maximumNameCharacters} characters).`);
  }
  const problem = nameProblem('channel name', trimmed);
  if (problem !== undefined) throw refused(problem);
  return trimmed;
}

/** A channel's description as a parameter. Line breaks become spaces. */
export const channelDescription = textOfAtMost(realmLimits.max_stream_description_length).transform((text) =>
  text.replace(/\r\n|[\r\n]/g, ' '),
);

/** {@link channelDescription} as a JSON value. */
export const channelDescriptionInJson: z.ZodType<string> = z
  .string('must be a string')
  .pipe(channelDescription);

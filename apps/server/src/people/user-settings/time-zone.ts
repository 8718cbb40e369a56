import { z } from 'zod';

const maximumCharacters = 40;

/**
 * Parameter for the name of an IANA time zone, plain or as a JSON string. An empty string means that no time zone is set.
 */
export const timeZone = z
  .string()
  .transform((text) => text.replace(/^"(.*)"$/s, '$1'))
  .refine(isTimeZone, 'must be the name of a time zone, such as Europe/Paris, or empty')
  .meta({ openApi: { type: 'string', maxLength: maximumCharacters } });

function isTimeZone(name: string): boolean {
  if (name === '') return true;
  // `Intl` also accepts offsets, which are not names.
  if (name.length > maximumCharacters || !/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

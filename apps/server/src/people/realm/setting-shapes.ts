import type { ChannelId } from '@waxwing/protocol';
import { integerParameter } from '@waxwing/service/http';
import { z } from 'zod';

// Parsers for setting values. They follow the rules of parameters, and also accept keywords for special numbers and for
// "no value".

/** Defines a parser for an integer from `minimum` to `maximum`. */
export function wholeNumber(minimum: number, maximum: number) {
  const range = `must be from ${minimum} to ${maximum}`;
  return integerParameter
    .refine((value) => value >= minimum && value <= maximum, range)
    .meta({ openApi: { type: 'integer', minimum, maximum } });
}

/** Defines a parser for one of these percentages. */
export function percentOf(...allowed: readonly number[]) {
  return integerParameter
    .refine((value) => allowed.includes(value), `must be one of ${allowed.join(', ')}`)
    .meta({ openApi: { type: 'integer', enum: [...allowed] } });
}

/** Defines a parser for a positive number of seconds, or `unlimited`, which becomes `null`. */
export function secondsOrUnlimited() {
  return z
    .string()
    .regex(/^(?:\d{1,15}|"?unlimited"?)$/, 'must be a number of seconds, or unlimited')
    .transform((text) => (/^\d/.test(text) ? Number(text) : null))
    .refine((seconds) => seconds !== 0, 'must be positive, or unlimited')
    .meta({
      openApi: {
        anyOf: [
          { type: 'integer', minimum: 1 },
          { type: 'string', const: 'unlimited' },
        ],
      },
    });
}

/** Defines a parser for a channel id, or -1 for no channel. */
export function channelOrNone() {
  return integerParameter
    .refine((value) => value === -1 || value > 0, 'must be the id of a channel, or -1')
    .transform((value) => value as ChannelId)
    .meta({ openApi: { type: 'integer', minimum: -1 } });
}

/** Defines a parser for one of `words`, plain or as a JSON string. */
export function oneOf<const Word extends string>(words: readonly [Word, ...Word[]]) {
  return z
    .string()
    .transform((text) => text.replace(/^"(.*)"$/s, '$1'))
    .pipe(z.enum(words, `must be one of ${words.join(', ')}`))
    .meta({ openApi: { type: 'string', enum: [...words] } });
}

/** Defines a parser for a string of at most `characters` Unicode code points. */
export function textOfAtMost(characters: number) {
  return z
    .string()
    .refine((text) => [...text].length <= characters, `must have at most ${characters} characters`)
    .meta({ openApi: { type: 'string', maxLength: characters } });
}

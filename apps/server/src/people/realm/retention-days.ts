import { ProtocolError, parseJsonOrUndefined } from '@waxwing/protocol';
import { z } from 'zod';

/** A hundred years. */
const maximumDays = 36_500;

/**
 * Defines a parameter for message retention: a number of days, or one of `words`, plain or as JSON. The parsed value is
 * the number of days, or the word's meaning.
 * @throws ProtocolError REQUEST_VARIABLE_INVALID with `var_name` and `bad_value` when it parses any other value.
 */
export function retentionParameter<const Meaning extends number | null>(
  words: Readonly<Record<string, Meaning>>,
) {
  return z
    .string()
    .transform((text): number | Meaning => {
      const value = parseJsonOrUndefined(text) ?? text;
      if (typeof value === 'string' && Object.hasOwn(words, value)) return words[value] as Meaning;
      if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= maximumDays)
        return value;
      throw new ProtocolError('REQUEST_VARIABLE_INVALID', {
        message: `Bad value for 'message_retention_days': ${text.slice(0, 100)}`,
        fields: { var_name: 'message_retention_days', bad_value: value },
      });
    })
    .meta({
      openApi: {
        anyOf: [
          { type: 'integer', minimum: 1, maximum: maximumDays },
          { type: 'string', enum: Object.keys(words) },
        ],
      },
    });
}

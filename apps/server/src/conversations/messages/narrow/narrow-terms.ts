import { type MessageId, ProtocolError, parseJson } from '@waxwing/protocol';
import { z } from 'zod';

/** One term of a narrow, as the client sent it. */
export interface NarrowTerm {
  readonly operator: string;
  readonly operand: NarrowOperand;
  readonly isNegated: boolean;
}

export type NarrowOperand = string | number | readonly (string | number)[];

const maximumTerms = 50;
const maximumCharacters = 10_000;

const text = z
  .string()
  .max(maximumCharacters)
  .refine((value) => !value.includes('\0'));
const operand = z.union([text, z.number().int(), z.array(z.union([text, z.number().int()])).max(1000)]);
const termShape = z
  .union(
    [
      z.object({ operator: text, operand, negated: z.boolean().nullish() }).transform(
        (term): NarrowTerm => ({
          operator: term.operator,
          operand: term.operand,
          isNegated: term.negated ?? false,
        }),
      ),
      z
        .tuple([text, operand])
        .transform(([operator, operand]): NarrowTerm => ({ operator, operand, isNegated: false })),
    ],
    'must be an operator and its operand: a string, an integer, or a list of these',
  )
  .meta({ schemaName: 'NarrowTerm' });

/** The `narrow` parameter: a JSON list of `{operator, operand, negated}`, or of pairs of operator and operand. */
export const narrowShape = z
  .array(termShape, 'must be a list of terms')
  .max(maximumTerms, `must have at most ${maximumTerms} terms`);

/** Parses a stored narrow, which {@link narrowShape} validated before it was stored. */
export function readStoredNarrow(json: string): NarrowTerm[] {
  const stored: unknown = parseJson(json);
  return stored as NarrowTerm[];
}

/** Returns the error for an invalid narrow. `desc` is a human-readable description. */
export function badNarrow(desc: string): ProtocolError {
  return new ProtocolError('BAD_NARROW', { message: `Invalid narrow operator: ${desc}`, fields: { desc } });
}

/** Legacy names and aliases of operators. */
const otherNames: Readonly<Record<string, string>> = {
  stream: 'channel',
  streams: 'channels',
  'pm-with': 'dm',
  'group-pm-with': 'dm-including',
  from: 'sender',
};

/** Returns the canonical name of an operator. */
export function operatorOf({ operator }: Pick<NarrowTerm, 'operator'>): string {
  return otherNames[operator] ?? operator;
}

/**
 * Reads an operand as the id of a message.
 * @throws ProtocolError BAD_NARROW for other operands.
 */
export function readId(operand: NarrowOperand, operator: string): MessageId {
  const id = Number(operand);
  if (Array.isArray(operand) || operand === '' || !Number.isSafeInteger(id))
    throw badNarrow(`${operator} needs the id of a message`);
  return id as MessageId;
}

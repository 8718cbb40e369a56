import type { JsonObject } from '@waxwing/protocol';
import { z } from 'zod';

/** The request and response formats for registrations of one generation. */
export interface RegistrationFormat<Registration, Registered> {
  /** Builds the form for one registration. */
  form(realmUuid: string, registration: Registration): Record<string, string>;
  /** Builds the body for many registrations. */
  body(realmUuid: string, registrations: readonly Registration[]): JsonObject;
  /** Returns the number of characters that a registration needs in that body, rounded up. */
  charactersOf(registration: Registration): number;
  /** Schema of the relay's response to one successful registration. */
  readonly answer: z.ZodType<Registered>;
  /** Returns the schema of the relay's response to `count` registrations. */
  manyAnswer(count: number): z.ZodType<{ readonly results: readonly RegistrationResult<Registered>[] }>;
}

/** Result of one registration in a batch. */
export type RegistrationResult<Registered> =
  | { readonly result: 'success'; readonly registered: Registered }
  | RefusedRegistration;

export interface RefusedRegistration {
  readonly result: 'error';
  readonly code: string;
  readonly msg: string;
}

interface Succeeded {
  readonly result: 'success';
  readonly [name: string]: unknown;
}

const refused = z.object({ result: z.literal('error'), code: z.string(), msg: z.string() });

/** Completes a format with the schemas for batch responses. */
export function registrationFormat<Registration, Registered>(
  described: Omit<RegistrationFormat<Registration, Registered>, 'manyAnswer'>,
): RegistrationFormat<Registration, Registered> {
  const succeeded = z
    .looseObject({ result: z.literal('success') })
    .pipe(described.answer as z.ZodType<Registered, Succeeded>)
    .transform((registered) => ({ result: 'success' as const, registered }));
  const results = z.array(z.union([succeeded, refused]));
  const answerFor = (count: number) => z.object({ results: results.length(count) });
  // Schemas are cached by count, because building one is slow.
  const answers = new Map<number, ReturnType<typeof answerFor>>();
  return {
    ...described,
    manyAnswer(count) {
      const known = answers.get(count) ?? answerFor(count);
      answers.set(count, known);
      return known;
    },
  };
}

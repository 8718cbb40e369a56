import type { Answered } from '@waxwing/service/http';

/**
 * Result of checking a response: its error code as `METHOD path CODE`, and a sentence if the response violates the
 * operation's declaration.
 */
export interface HeldAnswer {
  readonly provoked?: string;
  readonly wrong?: string;
}

export function holdAnswer(answered: Answered): Promise<HeldAnswer>;

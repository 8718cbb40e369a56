import type { Answered } from '@waxwing/service/http';

/** The result for an answer: the provoked code as `METHOD path CODE`, and a sentence if it violates its declaration. */
export interface HeldAnswer {
  readonly provoked?: string;
  readonly wrong?: string;
}

export function holdAnswer(answered: Answered): Promise<HeldAnswer>;

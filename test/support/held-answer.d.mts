import type { Answered } from '@waxwing/service/http';

/** What an answer showed: the code that was provoked, as `METHOD path CODE`, and a sentence where it is not as declared. */
export interface HeldAnswer {
  readonly provoked?: string;
  readonly wrong?: string;
}

export function holdAnswer(answered: Answered): Promise<HeldAnswer>;

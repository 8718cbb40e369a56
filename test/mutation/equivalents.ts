/** A mutant that no test can notice because the program behaves the same, with the reason. */
export interface Equivalent {
  readonly file: string;
  /** As `npm run mutate` prints it. */
  readonly change: string;
  readonly reason: string;
}

export const equivalents: readonly Equivalent[] = [];

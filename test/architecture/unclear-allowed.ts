/**
 * How many unclear phrases each folder or file may still have. All others may have none. The numbers are exact: a change
 * that removes some lowers the number with it, until no entry is left.
 */
export const unclearAllowed: Readonly<Record<string, number>> = {};

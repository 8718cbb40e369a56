/** Returns the number of devices of all generations and vendors. */
export function totalOf(counts: Readonly<Record<string, Readonly<Record<string, number>>>>): number {
  return Object.values(counts)
    .flatMap((byVendor) => Object.values(byVendor))
    .reduce((sum, count) => sum + count, 0);
}

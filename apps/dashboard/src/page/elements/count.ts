const format = new Intl.NumberFormat('en');

/** Formats a count with thousands separators. */
export function count(value: number): string {
  return format.format(value);
}

/** Formats a count with its noun: `1 device`, `2 devices`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

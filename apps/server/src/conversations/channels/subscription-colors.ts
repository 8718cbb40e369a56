/** The colors of new subscriptions, in the order of assignment. */
const palette = [
  '#76ce90',
  '#fae589',
  '#a6c7e5',
  '#e79ab5',
  '#bfd56f',
  '#f4ae55',
  '#b0a5fd',
  '#addfe5',
  '#f5ce6e',
  '#c2726a',
  '#94c849',
  '#bd86e5',
  '#ee7e4a',
  '#a6dcbf',
  '#95a5fd',
  '#53a063',
  '#9987e1',
  '#e4523d',
  '#c2c2c2',
  '#4f8de4',
  '#c6a8ad',
  '#e7cc4d',
  '#c8bebf',
  '#a47462',
] as const;

/**
 * Chooses colors for `count` new subscriptions: first the unused colors, then all colors of the palette in rotation.
 */
export function nextColors(used: Iterable<string>, count: number): string[] {
  const taken = new Set(used);
  const order = [...palette.filter((color) => !taken.has(color)), ...palette];
  return Array.from({ length: count }, (_, index) => order[index % order.length] as string);
}

/** Finds the name that is closest to a mistyped one. Returns `undefined` if no name is close enough to suggest. */
export function nearestName(typed: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  // At least two, because two swapped letters count as two mistakes. A name with many more mistakes would be a guess.
  let allowed = Math.max(2, Math.floor(typed.length / 4));
  for (const name of names) {
    const mistakes = countMistakes(typed, name);
    if (mistakes <= allowed) {
      nearest = name;
      allowed = mistakes - 1;
    }
  }
  return nearest;
}

/** Computes the Levenshtein distance. */
function countMistakes(typed: string, name: string): number {
  let row = Array.from({ length: name.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...typed].entries()) {
    const next = [index + 1];
    for (let column = 0; column < name.length; column++) {
      const replaced = (row[column] ?? 0) + (name[column] === letter ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

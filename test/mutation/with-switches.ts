import type { Edit } from './mutants.js';

/**
 * Returns the text with all edits in it, so that one test run can try all of them. The program reads
 * `globalThis.mutant`, the index of the active edit, each time it runs edited code. Code that runs while the file is
 * loaded cannot be switched.
 */
export function withSwitches(text: string, edits: readonly Edit[]): string {
  const numbered = edits.map((edit, number) => ({ ...edit, number }));
  // Sorts outer edits before the edits inside them.
  numbered.sort((a, b) => a.start - b.start || b.end - a.end);
  return render(text, { start: 0, end: text.length }, numbered);
}

type Numbered = Edit & { readonly number: number };

function render(text: string, within: Pick<Edit, 'start' | 'end'>, edits: readonly Numbered[]): string {
  let rendered = '';
  let at = within.start;
  let left = edits;
  for (let outer = left[0]; outer !== undefined; outer = left[0]) {
    const { start, end } = outer;
    const same = left.filter((edit) => edit.start === start && edit.end === end);
    const inner = left.filter((edit) => edit.end <= end && !same.includes(edit));
    rendered += text.slice(at, start) + same.reduce(switched, render(text, outer, inner));
    at = end;
    left = left.filter((edit) => edit.start >= end);
  }
  return rendered + text.slice(at, within.end);
}

function switched(original: string, { by, number }: Numbered): string {
  const isOn = `globalThis.mutant === ${number}`;
  if (by === ';') return `if (!(${isOn})) ${original}`;
  if (by === '...[]') return `...(${isOn} ? [] : ${original.slice(3)})`;
  return `(${isOn} ? (${by}) : (${original}))`;
}

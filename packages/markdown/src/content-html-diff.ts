import { diffArrays } from 'diff';
import { type HtmlPart, readHtmlParts } from './html-parts.js';

/**
 * Maximum edit distance, in insertions plus deletions. Beyond this distance, everything between the first and the last
 * difference counts as replaced: computing the diff blocks the event loop and takes time quadratic in the distance.
 */
const maxEditLength = 400;

/** Elements that may not contain text or `span` directly. */
const structural: ReadonlySet<string> = new Set(['table', 'thead', 'tbody', 'tr', 'ul', 'ol']);

/**
 * Diffs two rendered versions of a message. Returns `after` in a single `div`, with `highlight_text_inserted` around
 * new text and `highlight_text_deleted` around removed text. Both arguments must be output of `renderMarkdown`. All
 * tags come from `after`, and only text is taken from `before`, so the result is as safe as `after`.
 */
export function contentHtmlDiff(before: string, after: string): string {
  return writeDiff(before, after, compare);
}

/**
 * Like {@link contentHtmlDiff}, but in linear time: everything between the first and the last difference counts as
 * replaced.
 */
export function replacementHtmlDiff(before: string, after: string): string {
  return writeDiff(before, after, replaceBetweenEnds);
}

type Compare = (old: readonly HtmlPart[], now: readonly HtmlPart[]) => readonly Change[];

function writeDiff(before: string, after: string, compareParts: Compare): string {
  const writer = new DiffWriter();
  const old = readHtmlParts(before).filter((part) => part.kind !== 'tag');
  const parts = readHtmlParts(after);
  const now = parts.filter((part) => part.kind !== 'tag');
  const inserted = new Set<HtmlPart>();
  /** Deleted parts, keyed by the part that preceded them. The key `undefined` is for parts deleted at the start. */
  const deletedAfter = new Map<HtmlPart | undefined, HtmlPart[]>();
  let oldIndex = 0;
  let newIndex = 0;
  for (const change of compareParts(old, now)) {
    if (change.removed) {
      deletedAfter.set(now[newIndex - 1], old.slice(oldIndex, oldIndex + change.count));
    } else if (change.added) {
      for (const part of now.slice(newIndex, newIndex + change.count)) inserted.add(part);
    }
    if (!change.added) oldIndex += change.count;
    if (!change.removed) newIndex += change.count;
  }
  for (const part of parts) {
    if (part === now[0]) writer.delete(deletedAfter.get(undefined) ?? []);
    if (part.kind === 'tag') writer.tag(part);
    else if (inserted.has(part)) writer.insert(part);
    else writer.keep(part);
    if (part.kind !== 'tag') writer.delete(deletedAfter.get(part) ?? []);
  }
  if (now.length === 0) writer.delete(old);
  return writer.finish();
}

interface Change {
  readonly count: number;
  readonly added: boolean;
  readonly removed: boolean;
}

function compare(old: readonly HtmlPart[], now: readonly HtmlPart[]): readonly Change[] {
  const start = commonStart(old, now);
  const keys = (parts: readonly HtmlPart[]) => parts.slice(start).map(({ key }) => key);
  const changes = diffArrays(keys(old), keys(now), { maxEditLength });
  return changes === undefined ? replaceBetweenEnds(old, now) : [kept(start), ...changes];
}

function replaceBetweenEnds(old: readonly HtmlPart[], now: readonly HtmlPart[]): readonly Change[] {
  const start = commonStart(old, now);
  const end = commonStart(old.slice(start).reverse(), now.slice(start).reverse());
  return [
    kept(start),
    { count: old.length - start - end, added: false, removed: true },
    { count: now.length - start - end, added: true, removed: false },
    kept(end),
  ];
}

function commonStart(old: readonly HtmlPart[], now: readonly HtmlPart[]): number {
  let count = 0;
  while (count < old.length && count < now.length && old[count]?.key === now[count]?.key) count += 1;
  return count;
}

function kept(count: number): Change {
  return { count, added: false, removed: false };
}

/** Writes the new HTML. Buffers deleted text until the next position where text is allowed. */
class DiffWriter {
  readonly #open: string[] = [];
  #html = '';
  #deleted = '';
  #inserted = '';

  delete(parts: readonly HtmlPart[]): void {
    if (parts.length === 0) return;
    this.#endInsertion();
    this.#deleted += parts.map(({ text }) => text).join('');
    this.#writeDeleted();
  }

  insert(part: HtmlPart): void {
    this.#writeDeleted();
    this.#inserted += part.html;
  }

  keep(part: HtmlPart): void {
    this.#endInsertion();
    this.#writeDeleted();
    this.#html += part.html;
  }

  tag(part: HtmlPart): void {
    this.#endInsertion();
    if (part.html.startsWith('</')) {
      this.#writeDeleted();
      this.#open.pop();
    } else if (!part.isVoid) this.#open.push(part.name);
    this.#html += part.html;
  }

  finish(): string {
    this.#endInsertion();
    this.#writeDeleted();
    return `<div>${this.#html}</div>`;
  }

  #endInsertion(): void {
    if (this.#inserted === '') return;
    const isVisible = this.#mayHoldText() && this.#inserted.trim() !== '';
    this.#html += isVisible
      ? `<span class="highlight_text_inserted">${this.#inserted}</span>`
      : this.#inserted;
    this.#inserted = '';
  }

  #writeDeleted(): void {
    if (this.#deleted === '' || !this.#mayHoldText()) return;
    if (this.#deleted.trim() !== '') {
      this.#html += `<span class="highlight_text_deleted">${this.#deleted}</span>`;
    }
    this.#deleted = '';
  }

  #mayHoldText(): boolean {
    return !structural.has(this.#open.at(-1) ?? 'div');
  }
}

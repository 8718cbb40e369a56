import { emojiCharacters } from './emoji/emoji-names.js';
import { type HtmlPart, readHtmlParts } from './html-parts.js';

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

/**
 * Converts the output of `renderMarkdown` to plain text, for example for push notifications. Emoji become Unicode, and
 * formulas become their TeX source. Ordered lists keep their numbers, and quoted lines start with `> `. Spoiler content
 * becomes `(…)`.
 */
export function plainText(html: string): string {
  // Greedy on purpose: it also hides the text between two spoilers, but it never reveals a nested spoiler.
  const shown = html.replace(/<div class="spoiler-content"[^>]*>[\s\S]*<\/div>/g, '(…)');
  const text = new Lines();
  for (const part of readHtmlParts(shown)) {
    if (part.kind === 'tag') text.tag(part);
    else text.add(shownEmoji(part.html) ?? part.text);
  }
  return text.toString().trim();
}

/** Builds text line by line. Each line starts with its quote marks, list number and indentation. */
class Lines {
  readonly #pieces: string[] = [];
  /** The next item number of each open list; `undefined` for unordered lists. */
  readonly #lists: (number | undefined)[] = [];
  #quotes = 0;
  #item = '';
  #indentation: string | undefined = '';

  tag({ html, name }: HtmlPart): void {
    const isEnd = html.startsWith('</');
    if (name === 'blockquote') this.#quotes += isEnd ? -1 : 1;
    else if (name === 'li' && !isEnd) this.#startItem();
    else if (isEnd && (name === 'ol' || name === 'ul')) this.#lists.pop();
    else if (name === 'ol') this.#lists.push(Number(/ start="(\d+)"/.exec(html)?.[1] ?? 1));
    else if (name === 'ul') this.#lists.push(undefined);
  }

  add(text: string): void {
    const end = text.trim() === '' ? text.lastIndexOf('\n') + 1 : 0;
    if (end > 0) {
      // Drops whitespace after other whitespace, because one line break between two elements is enough.
      if (this.#indentation === undefined) this.#pieces.push(text.slice(0, end));
      this.#indentation = text.slice(end);
      return;
    }
    if (this.#indentation !== undefined) {
      this.#pieces.push('> '.repeat(this.#quotes), this.#item, this.#indentation);
      this.#item = '';
      this.#indentation = undefined;
    }
    this.#pieces.push(text.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? entity));
  }

  toString(): string {
    return this.#pieces.join('');
  }

  #startItem(): void {
    const number = this.#lists.pop();
    this.#lists.push(number === undefined ? undefined : number + 1);
    this.#item = number === undefined ? '' : `${number}. `;
  }
}

function shownEmoji(html: string): string | undefined {
  const code = /^<span class="emoji emoji-([0-9a-f-]+)"/.exec(html)?.[1];
  if (code === undefined) return undefined;
  // Without the emoji variation selector, phones would show these characters as text.
  return emojiCharacters(code).replace(/^(\P{Emoji_Presentation})(\u20E3?)$/u, '$1\uFE0F$2');
}

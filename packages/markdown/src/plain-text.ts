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
 * What a reader sees of HTML that the renderer has made, for where nothing but text is shown: emoji as Unicode has them,
 * formulas as TeX, numbers of lists, and `> ` before what is quoted. What a spoiler hides stays hidden.
 */
export function plainText(html: string): string {
  // To the last end of any: too much is left out rather than too little.
  const shown = html.replace(/<div class="spoiler-content"[^>]*>[\s\S]*<\/div>/g, '(…)');
  const text = new Lines();
  for (const part of readHtmlParts(shown)) {
    if (part.kind === 'tag') text.tag(part);
    else text.add(shownEmoji(part.html) ?? part.text);
  }
  return text.toString().trim();
}

/** Text that grows, each line of which may begin with something. */
class Lines {
  readonly #pieces: string[] = [];
  /** The numbers of the next items of the lists that are open; `undefined` for lists without numbers. */
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
      // Between two elements one end of a line is enough.
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
  // Without the selector phones show such a one as text.
  return emojiCharacters(code).replace(/^(\P{Emoji_Presentation})(\u20E3?)$/u, '$1\uFE0F$2');
}

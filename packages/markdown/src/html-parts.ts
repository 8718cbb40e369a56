/**
 * A part of rendered HTML: a tag, a word (or whitespace), or a `whole` element that the reader sees as a unit, such as
 * an emoji or a formula.
 */
export interface HtmlPart {
  readonly kind: 'tag' | 'word' | 'whole';
  readonly html: string;
  /** The element's name; empty for words. */
  readonly name: string;
  /** Whether the tag is a void element, which has no end tag. */
  readonly isVoid: boolean;
  /** The visible text, escaped; empty for tags. */
  readonly text: string;
  /** Comparison key. Equal for two parts with the same text, style and link target. */
  readonly key: string;
}

const piece = /<(\/?)([a-z][a-z0-9]*)((?:\s+[^<>]*)?)>|[^<\s]+|\s+|</gi;
const voidElements: ReadonlySet<string> = new Set(['br', 'hr', 'img']);
/** Matches the classes of elements that are compared and shown as a unit. */
const wholeClass =
  /class="(?:emoji|katex|katex-display|tex-error|timestamp-error|user-mention|user-group-mention|topic-mention)[" ]/;
/**
 * Elements that set the style or link target of the text inside them. A change to such an element counts as a change to
 * its text.
 */
const styling: ReadonlySet<string> = new Set([
  'a',
  'strong',
  'em',
  'del',
  'code',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
]);

interface OpenElement {
  readonly name: string;
  readonly style: string;
}

/** Splits rendered HTML into tags, words and whole elements. Expects output of the renderer, not arbitrary HTML. */
export function readHtmlParts(html: string): HtmlPart[] {
  const pieces = [...html.matchAll(piece)];
  const parts: HtmlPart[] = [];
  const open: OpenElement[] = [];
  for (let index = 0; index < pieces.length; index++) {
    const [text, closing, name = '', attributes = ''] = pieces[index] as RegExpExecArray;
    const style = open.at(-1)?.style ?? '';
    if (closing === undefined) {
      const safe = text === '<' ? '&lt;' : text;
      parts.push({ kind: 'word', html: safe, name: '', isVoid: false, text: safe, key: `${style}|${safe}` });
    } else if (closing === '' && isWhole(name, attributes)) {
      const end = endOfElement(pieces, index);
      const whole = pieces.slice(index, end);
      const markup = whole.map(([one]) => one).join('');
      parts.push({
        kind: 'whole',
        html: markup,
        name,
        isVoid: false,
        text: visibleText(whole),
        key: `${style}|${markup}`,
      });
      index = end - 1;
    } else {
      const isVoid = voidElements.has(name);
      parts.push({ kind: 'tag', html: text, name, isVoid, text: '', key: '' });
      if (closing !== '') open.pop();
      else if (!isVoid) open.push({ name, style: styling.has(name) ? `${style}${text}` : style });
    }
  }
  return parts;
}

function isWhole(name: string, attributes: string): boolean {
  return name === 'img' || name === 'time' || (name === 'span' && wholeClass.test(attributes));
}

/** Returns the index after the end tag of the element that starts at `start`. */
function endOfElement(pieces: readonly RegExpExecArray[], start: number): number {
  let depth = 0;
  for (let index = start; index < pieces.length; index++) {
    const [text, closing, name = ''] = pieces[index] as RegExpExecArray;
    if (closing === undefined) continue;
    if (closing !== '') depth -= 1;
    else if (!voidElements.has(name) && !text.endsWith('/>')) depth += 1;
    if (depth <= 0) return index + 1;
  }
  return pieces.length;
}

/** Returns the visible text of an element: the TeX source of a formula, or the `alt` text of an image. */
function visibleText(pieces: readonly RegExpExecArray[]): string {
  const html = pieces.map(([text]) => text).join('');
  const tex = /<annotation[^>]*>([^<]*)<\/annotation>/.exec(html)?.[1];
  if (tex !== undefined) return tex;
  const alternative = /^<img [^>]*alt="([^"]*)"/.exec(html)?.[1];
  return (
    alternative ??
    pieces
      .filter(([, closing]) => closing === undefined)
      .map(([text]) => text)
      .join('')
  );
}

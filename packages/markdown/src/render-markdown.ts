import { collectReferences, type References } from './collect-references.js';
import { escapeHtml } from './escape-html.js';
import { type MarkdownFacts, ResolvedFacts } from './markdown-facts.js';
import { markdownParser, maxNesting } from './markdown-parser.js';
import { environmentOf, type Rendering } from './rendering.js';
import { hasVisibleCharacter } from './visible-text.js';

/** The result of `renderMarkdown`: HTML and references. */
export interface RenderedMarkdown extends References {
  /** Markup that stock clients understand. Safe to embed: any HTML that the author typed is escaped. */
  readonly html: string;
  /** Display names of the languages used in code blocks, as in `data-code-language`. */
  readonly codeLanguages: readonly string[];
  /** Whether this is a status message, such as `/me waves`. */
  readonly isMeMessage: boolean;
}

/** Maximum length of a text, in code points. A longer text is shown as typed. */
const maxTextCodePoints = 10_000;
/** Maximum length of the HTML, in UTF-16 code units. A text that exceeds it is shown as typed. */
const maxHtmlLength = 200_000;
/** Budgets per text. Beyond them, formulas and linkifier matches stay as typed, and code is not highlighted. */
const maxTexCharacters = 1_000;
const maxCodeCharacters = 3_000;
const maxSearchCost = 60_000;
/**
 * Elements that are visible even though they contain no text, including rules in formulas with nonzero width and
 * height.
 */
const visibleElement =
  /<(?:hr|img|audio|video|iframe|svg)\b|border-(?:bottom-width|style|right-style)|border-right-width:(?!0em|-)[^;]*;border-top-width:(?!0em|-)/;
/** Invisible parts of a rendered formula: its TeX source and phantoms. */
const unseen = /<annotation\b.*?<\/annotation>|<mphantom>.*?<\/mphantom>|transparent;">[^<]*/gs;

/**
 * Renders chat Markdown as HTML and collects its references. Pure: the result depends only on the arguments. Names that
 * are not in `facts` stay as typed. To find the names to look up beforehand, use `findReferences`.
 *
 * Time and output size are bounded for every input. A text is shown as typed, without references, if it has more than
 * 10,000 code points, nests 50 levels deep, or yields more than 200,000 UTF-16 code units of HTML. A text that consists
 * only of Markdown syntax, such as "```", is also shown as typed, because it would otherwise render as nothing.
 */
export function renderMarkdown(text: string, facts: MarkdownFacts): RenderedMarkdown {
  const source = text.replace(/\p{Surrogate}/gu, '\uFFFD');
  const isMeMessage = source.startsWith('/me ');
  // Checks the UTF-16 length first, because counting code points is slow, and there are never more code points than
  // UTF-16 code units.
  if (source.length > maxTextCodePoints && [...source].length > maxTextCodePoints)
    return asTyped(source, isMeMessage);
  const rendering: Rendering = {
    facts: new ResolvedFacts(facts),
    texCharactersLeft: maxTexCharacters,
    codeCharactersLeft: maxCodeCharacters,
    searchCostLeft: maxSearchCost,
    codeLanguages: new Set(),
  };
  const environment = environmentOf(rendering);
  const tokens = markdownParser.parse(source, environment);
  if (tokens.some((token) => token.level >= maxNesting - 1)) return asTyped(source, isMeMessage);
  const references = collectReferences(markdownParser, tokens);
  const html = markdownParser.renderer.render(tokens, markdownParser.options, environment).trimEnd();
  if (html.length > maxHtmlLength || showsNothing(html)) return asTyped(source, isMeMessage);
  return { html, ...references, codeLanguages: [...rendering.codeLanguages], isMeMessage };
}

function showsNothing(html: string): boolean {
  return !visibleElement.test(html) && !hasVisibleCharacter(html.replace(unseen, '').replace(/<[^>]*>/g, ''));
}

function asTyped(source: string, isMeMessage: boolean): RenderedMarkdown {
  const text = escapeHtml(source.trim()).replaceAll('\n', '<br>\n');
  const html = text === '' ? '' : `<p>${text}</p>`;
  return { html, ...collectReferences(markdownParser, []), codeLanguages: [], isMeMessage };
}

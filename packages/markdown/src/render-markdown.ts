import { collectReferences, type References } from './collect-references.js';
import { escapeHtml } from './escape-html.js';
import { flavour, maxNesting } from './flavour.js';
import { type MarkdownFacts, ResolvedFacts } from './markdown-facts.js';
import { environmentOf, type Rendering } from './rendering.js';

/** A text as HTML, and what it refers to. */
export interface RenderedMarkdown extends References {
  /** Elements, classes and attributes as stock clients read them; no markup of the author's own. */
  readonly html: string;
  /** The display names of the languages of its code blocks, as in `data-code-language`. */
  readonly codeLanguages: readonly string[];
  /** Whether it tells what its author does: `/me waves`. */
  readonly isMeMessage: boolean;
}

/** The longest text that is read as Markdown, in code points; a longer one is shown as typed. */
const maxTextCodePoints = 10_000;
/** The longest HTML, in UTF-16 code units; a text that would become longer is shown as typed. */
const maxHtmlLength = 200_000;
/** What one text may cost: formulas, code and matches of linkifiers beyond this are shown as typed. */
const maxTexCharacters = 1_000;
const maxCodeCharacters = 3_000;
const maxSearchCost = 60_000;

/**
 * Renders a text of the flavour. Pure: names that the facts do not have stay as typed, and `findReferences` says
 * beforehand which names these may be. Any text is rendered in bounded time and space: one that is too long, nests too
 * deep or would become too large is shown as typed, and then refers to nothing.
 */
export function renderMarkdown(text: string, facts: MarkdownFacts): RenderedMarkdown {
  const source = text.replace(/\p{Surrogate}/gu, '\uFFFD');
  const isMeMessage = source.startsWith('/me ');
  // Only a text that is longer in code units can be longer in code points.
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
  const tokens = flavour.parse(source, environment);
  if (tokens.some((token) => token.level >= maxNesting - 1)) return asTyped(source, isMeMessage);
  const references = collectReferences(flavour, tokens);
  const html = flavour.renderer.render(tokens, flavour.options, environment).trimEnd();
  if (html.length > maxHtmlLength) return asTyped(source, isMeMessage);
  return { html, ...references, codeLanguages: [...rendering.codeLanguages], isMeMessage };
}

function asTyped(source: string, isMeMessage: boolean): RenderedMarkdown {
  const html = `<p>${escapeHtml(source.trim()).replaceAll('\n', '<br>\n')}</p>`;
  return { html, ...collectReferences(flavour, []), codeLanguages: [], isMeMessage };
}

import type { MarkdownIt } from 'markdown-it';
import type { Linkifier } from '../linkifier.js';
import { type Rendering, renderingOf } from '../rendering.js';
import { type Replacement, replaceInText } from './replace-in-text.js';

/**
 * Maximum length of a generated URL, in UTF-16 code units. A match that would yield a longer URL stays as plain text.
 */
const maxUrlLength = 2_000;

/** Fixed cost of a search on top of the length of the text, in characters. */
const baseCost = 20;

/** Rule for the organization's linkifiers, such as `#1234` for an issue. */
export function linkifiers(md: MarkdownIt): void {
  md.core.ruler.push('linkifiers', (state) => {
    const rendering = renderingOf(state.env);
    for (const linkifier of rendering.facts.linkifiers) {
      replaceInText(state, (text) => search(md, rendering, linkifier, text), { inLinks: false });
    }
  });
  md.renderer.rules.linkified = (tokens, index) => {
    const token = tokens[index];
    const href = md.utils.escapeHtml(String(token?.meta?.href));
    return `<a href="${href}">${md.utils.escapeHtml(token?.content ?? '')}</a>`;
  };
}

function* search(
  md: MarkdownIt,
  rendering: Rendering,
  linkifier: Linkifier,
  text: string,
): Generator<Replacement> {
  const found = linkifier.matcher.matcher(text);
  let from = 0;
  while (from <= text.length && spend(rendering, text.length - from) && found.find(from)) {
    const [start, end] = [found.start(1), found.end(1)];
    const href = hrefOf(md, linkifier, found.getNamedGroups());
    // The boundary character after one match can also be the boundary before the next match.
    from = Math.max(end, from + 1);
    if (href === undefined || end <= start) continue;
    yield { start, end, type: 'linkified', content: text.slice(start, end), meta: { href } };
  }
}

/**
 * Deducts a search from the budget. Returns false if too little is left. Always charges for the whole text, because
 * even a search that finds a short match may look ahead to the end.
 */
function spend(rendering: Rendering, length: number): boolean {
  const cost = length + baseCost;
  if (cost > rendering.searchCostLeft) return false;
  rendering.searchCostLeft -= cost;
  return true;
}

function hrefOf(
  md: MarkdownIt,
  { template }: Linkifier,
  groups: Record<string, string | null>,
): string | undefined {
  const url = expand(template, groups);
  if (url === undefined || url.length > maxUrlLength) return undefined;
  const href = md.normalizeLink(url);
  return md.validateLink(href) ? href : undefined;
}

/** Expands the template. Returns undefined if a prefix modifier such as `{name:1}` would split a surrogate pair. */
function expand(template: Linkifier['template'], groups: Record<string, string | null>): string | undefined {
  try {
    return template.expand(groups);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

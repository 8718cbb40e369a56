import type { MarkdownIt } from 'markdown-it';
import type { Linkifier } from '../linkifier.js';
import { type Rendering, renderingOf } from '../rendering.js';
import { type Replacement, replaceInText } from './replace-in-text.js';

/** How long a link of a linkifier may be; a longer one stays text. */
const maxUrlLength = 2_000;

/** What starting a search costs, counted in characters searched. */
const costOfStart = 20;

/** The organisation's own patterns, such as `#1234` for an issue. */
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
  while (from <= text.length && pay(rendering, text.length - from) && found.find(from)) {
    const [start, end] = [found.start(1), found.end(1)];
    const href = hrefOf(md, linkifier, found.getNamedGroups());
    // What follows one match may come before the next.
    from = Math.max(end, from + 1);
    if (href === undefined || end <= start) continue;
    yield { start, end, type: 'linkified', content: text.slice(start, end), meta: { href } };
  }
}

/** Whether there is enough left for a search: it may look at all of the text, however soon it finds something. */
function pay(rendering: Rendering, length: number): boolean {
  const cost = length + costOfStart;
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

/** The URL; `undefined` where the template shortens what was found within a character that is two code units. */
function expand(template: Linkifier['template'], groups: Record<string, string | null>): string | undefined {
  try {
    return template.expand(groups);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

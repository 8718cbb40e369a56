import type { Env } from 'markdown-it';
import type { ResolvedFacts } from './markdown-facts.js';

/** The state of one `renderMarkdown` call: the facts that rules look up, and the budgets that they consume. */
export interface Rendering {
  readonly facts: ResolvedFacts;
  /** Remaining TeX budget, in characters. Each formula has a fixed cost on top of its length. */
  texCharactersLeft: number;
  /** Remaining budget for highlighted code, in characters. */
  codeCharactersLeft: number;
  /** Remaining budget for linkifier searches, in characters searched plus a fixed cost for each search. */
  searchCostLeft: number;
  /** Display names of the languages of the code blocks so far. */
  readonly codeLanguages: Set<string>;
}

const key = Symbol('rendering');

/** Wraps a rendering in a markdown-it environment. `renderingOf` extracts it again. */
export function environmentOf(rendering: Rendering): Env {
  return { [key]: rendering };
}

/** Returns the rendering that a rule runs in. Throws a TypeError if `renderMarkdown` did not start the parser. */
export function renderingOf(env: Env | undefined): Rendering {
  const rendering = env?.[key];
  if (rendering === undefined)
    throw new TypeError('The Markdown rules need a rendering: call renderMarkdown.');
  return rendering as Rendering;
}

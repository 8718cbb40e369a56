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
  /** Display names of the languages used in code blocks so far. */
  readonly codeLanguages: Set<string>;
}

const key = Symbol('rendering');

/** Wraps a rendering in a markdown-it environment. `renderingOf` extracts it again. */
export function environmentOf(rendering: Rendering): Env {
  return { [key]: rendering };
}

/**
 * Returns the rendering that a rule is part of. Throws a TypeError if the parser was not started by `renderMarkdown`.
 */
export function renderingOf(env: Env | undefined): Rendering {
  const rendering = env?.[key];
  if (rendering === undefined)
    throw new TypeError('The Markdown rules need a rendering: call renderMarkdown.');
  return rendering as Rendering;
}

import type { Env } from 'markdown-it';
import type { ResolvedFacts } from './markdown-facts.js';

/** One rendering of one text: what its rules look up, and what they may still spend. */
export interface Rendering {
  readonly facts: ResolvedFacts;
  /** How many characters of TeX may still be typeset, so that no text takes long; each formula counts as some more. */
  texCharactersLeft: number;
  /** How many characters of code may still be highlighted. */
  codeCharactersLeft: number;
  /** What linkifiers may still search, in characters, each search counted as some more. */
  searchCostLeft: number;
  /** The display names of the languages of the code blocks. */
  readonly codeLanguages: Set<string>;
}

const key = Symbol('rendering');

export function environmentOf(rendering: Rendering): Env {
  return { [key]: rendering };
}

/** The rendering that a rule works for; throws a TypeError when the parser is not run by `renderMarkdown`. */
export function renderingOf(env: Env | undefined): Rendering {
  const rendering = env?.[key];
  if (rendering === undefined) throw new TypeError('The rules of the flavour need a rendering.');
  return rendering as Rendering;
}

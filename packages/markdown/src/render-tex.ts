import { createRequire } from 'node:module';
import type katex from 'katex';
import { escapeHtml } from './escape-html.js';
import type { Rendering } from './rendering.js';

const require = createRequire(import.meta.url);
// Loaded on first use, because loading KaTeX takes a few milliseconds.
const loadKatex = (): typeof katex => require('katex');

/** Fixed cost of a formula on top of its length, in characters. */
const baseCost = 5;
/** Maximum nesting depth of groups. KaTeX is recursive, so deeper groups could overflow the stack. */
const maxDepth = 30;
/** Maximum macro expansions in one formula. */
const maxExpansions = 200;
/** Maximum size of a rule or space, in em. */
const maxSizeEm = 50;

/** Renders an inline formula. Invalid TeX, and TeX beyond the budget, stays as typed in a `tex-error` element. */
export function renderInlineTex(rendering: Rendering, tex: string): string {
  return typeset(rendering, tex, false) ?? `<span class="tex-error">$$${escapeHtml(tex)}$$</span>`;
}

/**
 * Renders a block of display formulas that are separated by blank lines. A formula that cannot be rendered stays as
 * typed.
 */
export function renderTexBlock(rendering: Rendering, text: string): string {
  const formulas = text.replace(/^\n+|\s+$/g, '').split(/\n\n+/);
  const html = formulas.map(
    (tex) => typeset(rendering, tex, true) ?? `<span class="tex-error">${escapeHtml(tex)}</span>`,
  );
  return `<p>${html.join('\n\n')}</p>\n`;
}

function typeset(rendering: Rendering, tex: string, displayMode: boolean): string | undefined {
  const cost = tex.length + baseCost;
  if (cost > rendering.texCharactersLeft || isTooDeep(tex)) return undefined;
  rendering.texCharactersLeft -= cost;
  try {
    return withoutConsole(() =>
      loadKatex().renderToString(tex, {
        displayMode,
        throwOnError: true,
        trust: false,
        maxExpand: maxExpansions,
        maxSize: maxSizeEm,
        strict: (code) => (code === 'unknownSymbol' ? 'error' : 'ignore'),
      }),
    );
  } catch {
    // For invalid input, KaTeX can also throw errors other than `ParseError`. In every case, the formula is shown as
    // typed.
    return undefined;
  }
}

/**
 * Silences the console while `run` executes. For some commands, and for characters missing from its fonts, KaTeX logs
 * parts of the formula, which would leak message text into the log. Safe because `run` is synchronous.
 */
function withoutConsole<T>(run: () => T): T {
  const { log, warn, error } = console;
  const ignore = () => undefined;
  Object.assign(console, { log: ignore, warn: ignore, error: ignore });
  try {
    return run();
  } finally {
    Object.assign(console, { log, warn, error });
  }
}

function isTooDeep(tex: string): boolean {
  let depth = 0;
  for (const [mark] of tex.matchAll(/\\(?:left|right|begin|end)\b|\\?[{}]/g)) {
    if (mark === '{' || mark === '\\left' || mark === '\\begin') depth += 1;
    else if (mark === '}' || mark === '\\right' || mark === '\\end') depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}

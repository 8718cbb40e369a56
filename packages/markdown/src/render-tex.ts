import { createRequire } from 'node:module';
import type katex from 'katex';
import { escapeHtml } from './escape-html.js';
import type { Rendering } from './rendering.js';

const require = createRequire(import.meta.url);
// Loaded, in some milliseconds, when the first formula comes.
const typesetter = (): typeof katex => require('katex');

/** What a formula costs beside its length, counted in characters. */
const costOfStart = 5;
/** How deep groups may nest, since typesetting is recursive. */
const maxDepth = 30;
/** How often macros may be expanded in one formula. */
const maxExpansions = 200;
/** The longest rule or space, in em. */
const maxSizeEm = 50;

/** A formula within a line; what cannot be typeset stays as typed, marked as an error. */
export function renderInlineTex(rendering: Rendering, tex: string): string {
  return typeset(rendering, tex, false) ?? `<span class="tex-error">$$${escapeHtml(tex)}$$</span>`;
}

/** Formulas with a paragraph between them, each on a line of its own. */
export function renderTexBlock(rendering: Rendering, text: string): string {
  const formulas = text.replace(/^\n+|\s+$/g, '').split(/\n\n+/);
  const html = formulas.map(
    (tex) => typeset(rendering, tex, true) ?? `<span class="tex-error">${escapeHtml(tex)}</span>`,
  );
  return `<p>${html.join('\n\n')}</p>\n`;
}

function typeset(rendering: Rendering, tex: string, displayMode: boolean): string | undefined {
  const cost = tex.length + costOfStart;
  if (cost > rendering.texCharactersLeft || isTooDeep(tex)) return undefined;
  rendering.texCharactersLeft -= cost;
  try {
    return withoutConsole(() =>
      typesetter().renderToString(tex, {
        displayMode,
        throwOnError: true,
        trust: false,
        maxExpand: maxExpansions,
        maxSize: maxSizeEm,
        strict: (code) => (code === 'unknownSymbol' ? 'error' : 'ignore'),
      }),
    );
  } catch {
    // Whatever the typesetter throws is about this formula, and not all of it is a ParseError; readers see the source.
    return undefined;
  }
}

/**
 * Runs the typesetter while nothing reaches the console: some commands, and characters that a font lacks, make it write
 * parts of the formula there, which would put what people write into the log. Nothing else runs meanwhile.
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

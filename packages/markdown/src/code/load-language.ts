import { createRequire } from 'node:module';
import type { LanguageFn } from 'highlight.js';
import hljs from 'highlight.js/lib/core';

const require = createRequire(import.meta.url);

// Candidates for auto-detection in grammars that embed a language without naming it, such as HTTP bodies.
const guessed = ['css', 'javascript', 'json', 'xml', 'yaml'];
hljs.configure({ languages: guessed });

const loaded = new Set<string>();

/**
 * On first use, registers a highlight.js grammar and the grammars that it embeds. The first block in a language
 * therefore takes a few extra milliseconds. Loading all two hundred languages up front would take a tenth of the
 * server's startup time.
 */
export function loadLanguage(name: string): void {
  if (loaded.has(name)) return;
  loaded.add(name);
  const define: LanguageFn = require(`highlight.js/lib/languages/${name}`);
  hljs.registerLanguage(name, define);
  for (const inner of languagesWithin(hljs.getLanguage(name), new Set())) loadLanguage(inner);
}

/**
 * Collects the sub-languages in a part of a grammar. `seen` guards against cycles, because grammar parts can refer to
 * each other.
 */
function languagesWithin(part: unknown, seen: Set<unknown>): readonly string[] {
  if (typeof part !== 'object' || part === null || seen.has(part)) return [];
  seen.add(part);
  return Object.entries(part).flatMap(([key, value]) =>
    key === 'subLanguage' ? named(value) : languagesWithin(value, seen),
  );
}

function named(languages: string | readonly string[]): readonly string[] {
  if (typeof languages === 'string') return [languages];
  return languages.length > 0 ? languages : guessed;
}

import { createRequire } from 'node:module';
import type { LanguageFn } from 'highlight.js';
import hljs from 'highlight.js/lib/core';

const require = createRequire(import.meta.url);

// A grammar that leaves open what stands within it, as that of HTTP does for bodies, has the highlighter guess among these.
const guessed = ['css', 'javascript', 'json', 'xml', 'yaml'];
hljs.configure({ languages: guessed });

const loaded = new Set<string>();

/**
 * Has the highlighter know a language, by its own name for it, and what may stand within that. Whoever first writes code
 * in a language waits some milliseconds for it; to load all two hundred is a tenth of what a server costs to start.
 */
export function loadLanguage(name: string): void {
  if (loaded.has(name)) return;
  loaded.add(name);
  const define: LanguageFn = require(`highlight.js/lib/languages/${name}`);
  hljs.registerLanguage(name, define);
  for (const inner of languagesWithin(hljs.getLanguage(name), new Set())) loadLanguage(inner);
}

/** The languages that a part of a grammar names; `seen` are the parts before it, since they refer to each other. */
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

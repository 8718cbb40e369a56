import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './source-files.js';

/** Phrases that hide a sentence's actor or that engineers would not search for, each with a replacement. */
const unclearPhrases: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bwho(?:m|mever|ever)\b/i, 'the caller, the client, the user'],
  [/(?<!role:)\b(?:no|some|every)body\b/i, 'the actor by its name, or "no client", "all users"'],
  [/\bwho ask(?:s|ed)?\b/i, 'the caller, the client'],
  [/\bstrangers?\b/i, 'unauthenticated client'],
  [/\bwhat (?:waits|comes|came)\b/i, 'the queue, pending requests'],
  [/\b(?:is|are|was|were|be|been) told\b/i, 'gets, is notified, an event is published'],
  [/\bfor want of\b/i, 'without'],
  [/\bby and by\b/i, 'gradually'],
];

/** The prose in a file: a page's text, or a source file's comments and test titles. */
export function proseOf(file: string): string {
  const text = readFileSync(join(root, file), 'utf8');
  if (file.endsWith('.md')) return text;
  const comments = text.matchAll(/^[ \t]*\/\*[\s\S]*?\*\/|(?:^|\s)\/\/ .*$/gm);
  const titles = text.matchAll(/\b(?:it|test|describe)(?:\.each\([\s\S]*?\]\))?\(\s*(['"`])(.*?)\1,/g);
  const lines = [...[...comments].map(([comment]) => comment), ...[...titles].map(([, , title]) => title)];
  return lines.join('\n').replace(/^[ \t]*\*(?!\/) ?/gm, '');
}

/** Each unclear phrase in a text, with the words around it. */
export function unclearIn(prose: string): string[] {
  const text = prose.replace(/\s+/g, ' ');
  return unclearPhrases.flatMap(([pattern, instead]) =>
    [...text.matchAll(new RegExp(pattern, 'gi'))].map(
      ({ index }) => `"${text.slice(Math.max(0, index - 30), index + 40)}": write ${instead}`,
    ),
  );
}

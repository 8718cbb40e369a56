import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proseOf, unclearIn } from './prose.js';

const root = join(import.meta.dirname, '../..');
const patterns = ['*.ts', '*.tsx', '*.mjs', '*.md', '*.kt', '*.swift', '*.c'];
const files = execFileSync('git', ['ls-files', ...patterns], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((file) => !/architecture\/(?:words\.test|prose)\.ts$/.test(file));

/** Old-fashioned or project-specific words, each with its replacement. */
const unusedWords: Readonly<Record<string, string>> = {
  anew: 'again',
  afresh: 'again',
  lest: 'so that … not',
  'for ever': 'without end, or nothing',
  whilst: 'while',
  hence: 'so',
  thus: 'so',
  thereby: 'by that, or nothing',
  upon: 'on',
  henceforth: 'from now on',
  hitherto: 'so far',
  albeit: 'although',
  forthwith: 'at once',
  notwithstanding: 'in spite of',
  bell: 'listener',
  desk: 'admin',
  'first aid': 'what is tried at once',
};

/** Returns the text in lower case, with names such as `eventBell` and `key-admin` split into words. */
function wordsOf(text: string): string {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^a-z]+/g, ' ');
}

describe('code, comments and pages', () => {
  const texts = files.map((file) => ({
    file,
    words: ` ${wordsOf(`${file} ${readFileSync(join(root, file), 'utf8')}`)} `,
  }));

  it.each(Object.entries(unusedWords))('do not say %s, but %s', (word) => {
    const found = texts.filter(({ words }) => words.includes(` ${word} `) || words.includes(` ${word}s `));
    expect(found.map(({ file }) => file)).toEqual([]);
  });
});

describe('comments, titles of tests and pages', () => {
  it('name the actor in plain words', () => {
    const unclear = files.flatMap((file) => unclearIn(proseOf(file)).map((phrase) => `${file}: ${phrase}`));
    expect(files.length).toBeGreaterThan(1000);
    expect(unclear).toEqual([]);
  });

  it('are reported for an unclear phrase anywhere in a sentence', () => {
    expect(unclearIn('Whoever asks for what waits is told')).toHaveLength(3);
    expect(unclearIn('for\n   want of time, nobody does')).toHaveLength(2);
    expect(unclearIn('The relay notifies the client, whose key is stale.')).toEqual([]);
  });
});

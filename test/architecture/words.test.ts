import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const patterns = ['*.ts', '*.mjs', '*.md', '*.kt', '*.swift', '*.c'];
const files = execFileSync('git', ['ls-files', ...patterns], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((file) => !file.endsWith('architecture/words.test.ts'));

/** Old-fashioned or private words, each with what to write in its place. */
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

/** The text in lower case, names such as `eventBell` and `key-admin` taken apart into their words. */
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

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contractSentences } from './contract-sentences.js';
import { asksOnBothDatabases, problemOf, readShown } from './named-tests.js';

// The contract ends where the page starts to list this server's extensions.
const [contractText = ''] = readFileSync('docs/chat-api.md', 'utf8').split(
  '\n## Order of the checks of an edit\n',
);
const contract = contractSentences(contractText);
const page = readFileSync('docs/chat-api-tests.md', 'utf8');

interface Row {
  readonly heading: string;
  readonly text: string;
  /** The cell in the second column. */
  readonly shownBy: string;
}

const rows = readRows(page);
const filled = rows
  .filter(({ shownBy }) => shownBy !== '')
  .map((row) => ({ row, shown: readShown(row.shownBy) }));

describe('the page that maps each sentence of the chat API to its tests', () => {
  it('has every sentence of the contract once, in the same order', () => {
    expect(rows.map(({ heading, text }) => ({ heading, text }))).toEqual(contract);
  });

  it('names a test for each sentence, or says why there is nothing to show', () => {
    const silent = rows.filter(({ shownBy }) => shownBy === '');
    expect(silent.map(({ heading, text }) => `${heading}: ${text}`)).toEqual([]);
  });

  it('has only tests and reasons in its second column', () => {
    const unreadable = filled.filter(({ shown }) => shown.kind === 'unreadable');
    expect(unreadable.map(({ row }) => row)).toEqual([]);
  });

  it('names only existing tests, each by a title that is unique in its file', () => {
    const wrong = filled.flatMap(({ shown }) =>
      testsOf(shown).flatMap((test) => {
        const problem = problemOf(test);
        return problem === undefined ? [] : [{ ...test, problem }];
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('names, for each sentence, a test that sends requests to a server on each database', () => {
    const onOne = filled.filter(
      ({ shown }) => shown.kind === 'tests' && !shown.tests.some(asksOnBothDatabases),
    );
    expect(onOne.map(({ row }) => row)).toEqual([]);
  });
});

describe('a cell of the page', () => {
  const file = 'apps/server/chat-api/contract-page.test.ts';
  const here = (title: string) => `\`${file}\`: ${title}`;

  it('can name several tests, even with semicolons and bars in their titles', () => {
    expect(readShown(`${here('one; and more')}; ${here('a \\| b')}`)).toEqual({
      kind: 'tests',
      tests: [
        { file, title: 'one; and more' },
        { file, title: 'a | b' },
      ],
    });
  });

  it.each([
    'there is a test',
    'nothing to show:',
    `${here('x')}; \`more`,
    `see ${here('x')}`,
    here(''),
    '`contract-page.test.ts`: x',
    '`../packages/x.test.ts`: x',
    '`apps/server/chat-api/contract-sentences.ts`: x',
  ])('cannot be parsed: %s', (cell) => {
    expect(readShown(cell)).toEqual({ kind: 'unreadable' });
  });

  it('names a test by its complete title, which is unique in the file', () => {
    const title = 'has every sentence of the contract once, in the same order';
    expect(problemOf({ file, title })).toBeUndefined();
    for (const wrong of [title.slice(0, -1), 'cannot be parsed', 'a cell of the page']) {
      expect(problemOf({ file, title: wrong })).toContain('no test of this title');
    }
    expect(problemOf({ file: 'apps/server/chat-api/no.test.ts', title })).toContain('no such file');
  });

  it('counts as tested on both databases only if the test runs on each and sends requests to a server', () => {
    const users = 'apps/server/users/get-users.test.ts';
    expect(asksOnBothDatabases({ file: users, title: 'lists unknown parameters' })).toBe(true);
    expect(
      asksOnBothDatabases({
        file: 'apps/server/bad-input.test.ts',
        title: 'is refused without side effects when %s is missing',
      }),
    ).toBe(false);
  });
});

function testsOf(shown: ReturnType<typeof readShown>) {
  return shown.kind === 'tests' ? shown.tests : [];
}

function readRows(markdown: string): Row[] {
  const found: Row[] = [];
  let heading = '';
  for (const line of markdown.split('\n')) {
    if (line.startsWith('## ')) heading = line.slice(3);
    const [, text, shownBy] = /^\| (.+?) \| (.*?) ?\|$/.exec(line) ?? [];
    if (text === undefined || shownBy === undefined || text === 'Sentence' || text === '---') continue;
    found.push({ heading, text, shownBy });
  }
  return found;
}

import { existsSync, readFileSync } from 'node:fs';

/** A test named on the page: its file below `test`, and its title as written in the source. */
export interface NamedTest {
  readonly file: string;
  readonly title: string;
}

/** The content of a cell: tests, a reason why no test is needed, or text that cannot be parsed. */
export type Shown =
  | { readonly kind: 'tests'; readonly tests: readonly NamedTest[] }
  | { readonly kind: 'nothing-to-show' }
  | { readonly kind: 'unreadable' };

/** Parses a cell. `; ` separates entries. A title may contain `; ` if no file name follows. */
export function readShown(cell: string): Shown {
  if (/^nothing to show: \S/.test(cell)) return { kind: 'nothing-to-show' };
  const entries = cell
    .split(/; (?=`)/)
    .map((entry) => /^`((?:[\w-]+\/)+[\w-]+\.test\.ts)`: (\S.*)$/.exec(entry));
  const tests = entries.flatMap((entry) =>
    entry === null ? [] : [{ file: entry[1] ?? '', title: (entry[2] ?? '').replaceAll('\\|', '|') }],
  );
  return tests.length === entries.length ? { kind: 'tests', tests } : { kind: 'unreadable' };
}

/** The problem with a named test; `undefined` if the file runs exactly one test with this title. */
export function problemOf({ file, title }: NamedTest): string | undefined {
  const path = `test/${file}`;
  if (!existsSync(path)) return 'there is no such file';
  const { tests, mayBeLeftOut } = readTests(path);
  if (mayBeLeftOut) return 'the file leaves tests out';
  const same = tests.filter((test) => test.title === title).length;
  if (same === 0) return 'the file has no test of this title';
  return same === 1 ? undefined : 'the file has several tests of this title';
}

/** Whether a test sends requests to a running server, once on each database. */
export function asksOnBothDatabases({ file, title }: NamedTest): boolean {
  const path = `test/${file}`;
  if (!existsSync(path)) return false;
  const { tests, asksServer } = readTests(path);
  return asksServer && tests.some((test) => test.title === title && test.isOnBothDatabases);
}

interface TestFile {
  /** A parameterized test has its title template. */
  readonly tests: readonly { readonly title: string; readonly isOnBothDatabases: boolean }[];
  readonly mayBeLeftOut: boolean;
  readonly asksServer: boolean;
}

const known = new Map<string, TestFile>();
// Skips concatenated titles, because no comma follows their first part.
const titled = /^[ ]*(?:it|test)(?:\.each\([\s\S]*?\))?\(\s*(['"`])((?:\\.|(?!\1).)*)\1,/gm;
const forEachBackend = /^eachBackend\([\s\S]*?^\}\);/gm;

function readTests(path: string): TestFile {
  const found = known.get(path);
  if (found !== undefined) return found;
  const source = readFileSync(path, 'utf8');
  const regions = [...source.matchAll(forEachBackend)].map(({ 0: text, index }) => [
    index,
    index + text.length,
  ]);
  const file = {
    tests: [...source.matchAll(titled)].map(({ 2: title = '', index }) => ({
      title: title.replace(/\\(['"`])/g, '$1'),
      isOnBothDatabases: regions.some(([from = 0, to = 0]) => from < index && index < to),
    })),
    mayBeLeftOut: /\b(?:it|test|describe)\.(?:skip|only|todo|fails)/.test(source),
    asksServer: /-under-test\.js'/.test(source),
  };
  known.set(path, file);
  return file;
}

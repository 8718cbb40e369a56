import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { equivalents } from '../mutation/equivalents.js';
import { targets } from '../mutation/targets.js';

const root = join(import.meta.dirname, '../..');
const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
/** Excluded because it names test files relative to `test`, which contract-page.test.ts checks. */
const pageOfTests = 'docs/chat-api-tests.md';

describe('the pages of the project', () => {
  it('name files that exist', () => {
    const path = /`((?:test|packages|apps)\/[\w./-]+\.\w+)`/g;
    expect(pages).toContain(pageOfTests);
    const others = pages.filter((page) => page !== pageOfTests);
    const named = others.flatMap((page) =>
      [...readFileSync(join(root, page), 'utf8').matchAll(path)].map(([, file]) => `${page}: ${file}`),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((entry) => !existsSync(join(root, entry.split(': ')[1] ?? '')))).toEqual([]);
  });
});

describe('the paths in docs/architecture.md', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

  it.each([
    ['A registration: from the phone', 30],
    ['A notification: from the relay', 10],
  ])('"%s" has at most %i files', (heading, most) => {
    const section = page.slice(page.indexOf(`### ${heading}`)).split('\n### ', 2)[0] ?? '';
    const steps = [...section.matchAll(/^(\d+)\. `([\w./-]+\.ts)`/gm)];
    expect(steps.map(([, number]) => Number(number))).toEqual(steps.map((_, index) => index + 1));
    expect(steps.length).toBeGreaterThanOrEqual(10);
    expect(steps.length).toBeLessThanOrEqual(most);
    expect(new Set(steps.map(([, , file]) => file)).size).toBe(steps.length);
  });
});

describe('the search for lines without a test', () => {
  it('names files that exist', () => {
    const named = [
      ...targets.flatMap(({ file, tests }) => [file, ...tests]),
      ...equivalents.map(({ file }) => file),
    ];
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});

import { renderMarkdown } from '@waxwing/markdown';
import { describe, expect, it } from 'vitest';
import { cleanFileName, shownFileName } from '#server/content/uploads/file-name.js';
import { facts } from '../../../packages/markdown/facts.js';
import fc from '../../../support/fast-check.js';

describe('a file’s name', () => {
  it.each([
    ['cat.png', 'cat.png', 'cat.png'],
    ['my report (1).pdf', 'my report (1).pdf', 'my-report-1.pdf'],
    ['../../etc/passwd', 'passwd', 'passwd'],
    ['C:\\Windows\\system.ini', 'system.ini', 'system.ini'],
    ['..', '..', 'uploaded-file'],
    ['.htaccess', '.htaccess', 'htaccess'],
    ['', 'uploaded-file', 'uploaded-file'],
    ['a\u202Egnp.exe', 'agnp.exe', 'agnp.exe'],
    ['a\0b\r\nset-cookie: x.txt', 'abset-cookie: x.txt', 'abset-cookie-x.txt'],
    ['<script>alert(1)</script>.html', 'script>.html', 'script.html'],
    ['名前 naïve.txt', '名前 naïve.txt', '名前-naïve.txt'],
    ['e\u0301.txt', '\u00e9.txt', '\u00e9.txt'],
    ['"quoted".txt', '"quoted".txt', 'quoted.txt'],
    ['trailing...', 'trailing...', 'trailing'],
  ])('%j is shown as %j, and as %j in its path', (given, shown, clean) => {
    expect([shownFileName(given), cleanFileName(given)]).toEqual([shown, clean]);
  });

  it('is Unicode-normalized after the removal of other characters', () => {
    expect(cleanFileName('e\u200d\u0301!e!\u0301.txt')).toBe('éé.txt');
  });

  it('is truncated before its extension', () => {
    expect(cleanFileName(`${'x'.repeat(300)}.jpeg`)).toBe(`${'x'.repeat(55)}.jpeg`);
    expect(Buffer.byteLength(cleanFileName('\u{20000}'.repeat(300)))).toBe(240);
    expect([...shownFileName('x'.repeat(300))]).toHaveLength(255);
  });

  it('is safe in a path and a header for any input, and is recognized in message text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.string()), (given) => {
        const name = cleanFileName(given);
        expect(name).toMatch(/^[\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}._-]*$/u);
        expect(name).not.toMatch(/\.$|^\.|\.\.\//);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        expect(shownFileName(given)).not.toMatch(/[\p{C}/\\]/u);
        const path = `1/ab/${'r'.repeat(24)}/${name}`;
        for (const written of [path, encodeURI(path)]) {
          const text = `see [it](/user_uploads/${written}) and`;
          expect(renderMarkdown(text, facts).uploads).toEqual([path]);
        }
      }),
    );
  });
});

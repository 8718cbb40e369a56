import { parseTemplate } from 'url-template';
import { describe, expect, it } from 'vitest';
import { urlTemplateProblem } from '#server/content/playgrounds/url-template-problem.js';
import fc from '../../../support/fast-check.js';

const accepted = [
  'https://play.example.com/{code}',
  'http://play.example.com:8080/run{?code}',
  'https://play.example.com/run?lang=py{&code}',
  'https://play.example.com/#{code}',
  'https://play.example.com/{+code}',
  'https://play.example.com{/code}',
  'https://play.example.com{?code}',
  'https://play.example.com/a%20b/{code:5}/{code*}',
  'https://play.example.com/é{;code}',
];

describe('the template of a playground', () => {
  it.each(accepted)('can be %s', (template) => {
    expect(urlTemplateProblem(template)).toBeUndefined();
  });

  it.each(accepted)('keeps the host in %s, regardless of the code', (template) => {
    const expected = new URL(template.replace(/\{.*/, '')).origin;
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl()), (text) => {
        // Removes surrogates, because this test's template library cannot split text between surrogate pairs.
        const code = text.replace(/[\uD800-\uDFFF]/g, '');
        expect(new URL(parseTemplate(template).expand({ code })).origin).toBe(expected);
      }),
    );
  });

  it.each([
    'https://x.example/{code',
    'https://x.example/code}',
    'https://x.example/{{code}}',
    'https://x.example/{}',
    'https://x.example/{!code}',
    'https://x.example/{|code}',
    'https://x.example/{co de}',
    'https://x.example/{code,}',
    'https://x.example/{code:0}',
    'https://x.example/{code:10000}',
    'https://x.example/{.code.}',
    'https://x.example/{code}"><script>',
    'https://x.example/a b{code}',
    'https://x.example/100%{code}',
    'https://x.example\\{code}',
    `https://x.example/${'a'.repeat(2048)}{code}`,
  ])('cannot be %s, because this is not valid RFC 6570 or too long', (template) => {
    expect(urlTemplateProblem(template)).toMatchObject({ kind: 'form' });
  });

  it.each([
    'https://x.example/',
    'https://x.example/{name}',
    'https://x.example/{CODE}',
    'https://x.example/{code}/{code,name}',
    'https://x.example/{?code,lang}',
    'https://x.example/{code.x}',
  ])('cannot be %s, because its only variable must be code', (template) => {
    expect(urlTemplateProblem(template)).toMatchObject({ kind: 'variables' });
  });

  it.each([
    '{code}',
    '{+code}',
    'javascript:{code}',
    'ftp://x.example/{code}',
    '//x.example/{code}',
    '/run{?code}',
    'http{code}://x.example/',
    'https:x.example/{code}',
    'https://{code}',
    'https://{+code}',
    'https://{code}.x.example/',
    'https://x.example{code}',
    'https://x.example{+code}',
    'https://x.example{.code}/',
    'https://x.example:{code}/',
    'https://x.example:8{code}/',
    'https://{code}@x.example/',
  ])('cannot be %s, because this does not lead to one http or https host', (template) => {
    expect(urlTemplateProblem(template)).toMatchObject({ kind: 'form' });
  });
});

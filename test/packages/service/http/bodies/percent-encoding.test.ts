import { createHttpApp } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { percentDecode } from '#service/http/bodies/percent-encoding.js';
import fc from '../../../../support/fast-check.js';
import { createMemoryLog } from '../../../../support/memory-log.js';
import { testOperation } from '../../../../support/test-operation.js';

let app: Awaited<ReturnType<typeof createHttpApp>>;
const parameters = z.object({ name: z.string() });

beforeAll(async () => {
  const handle = async ({ parameters: { name } }: { parameters: Record<string, unknown> }) => ({
    name: String(name),
  });
  app = await createHttpApp({
    log: createMemoryLog().log,
    metrics: new Metrics(),
    operations: [
      testOperation({ method: 'POST', path: '/thing', parameters, handle }),
      testOperation({ method: 'GET', path: '/thing/{name}', parameters, handle }),
      testOperation({ method: 'POST', path: '/json', body: 'json', parameters, handle }),
    ],
    readiness: {},
  });
});
afterAll(() => app.close());

const form = 'application/x-www-form-urlencoded';
const bytes = (text: string) => Buffer.from(text, 'latin1');

async function ask(
  request: { url: string; payload?: Buffer; type?: string },
  method: 'GET' | 'POST' = 'POST',
): Promise<[number, unknown]> {
  const { type, ...sent } = request;
  const headers = type === undefined ? {} : { 'content-type': type };
  const { statusCode, body } = await app.inject({ method, headers, ...sent });
  const { name, msg } = JSON.parse(body) as Record<string, unknown>;
  return [statusCode, name ?? msg];
}

/** Ways to send an escaped value: one for each place where escapes are decoded. */
const ways: Readonly<Record<string, (escaped: string) => Promise<[number, unknown]>>> = {
  'a form': (escaped) => ask({ url: '/thing', type: form, payload: bytes(`name=${escaped}`) }),
  'a form beside others': (escaped) =>
    ask({ url: '/thing', type: form, payload: bytes(`&a=%&name=${escaped}&b&=&%zz=%ff`) }),
  'a query string': (escaped) => ask({ url: `/thing?name=${escaped}` }),
  'a path': (escaped) => ask({ url: `/thing/${escaped.replaceAll('+', '%20')}` }, 'GET'),
};

function multipart(part: Buffer): Promise<[number, unknown]> {
  const head = `--x\r\ncontent-disposition: form-data; name="name"\r\n\r\n`;
  const payload = Buffer.concat([bytes(head), part, bytes('\r\n--x--\r\n')]);
  return ask({ url: '/thing', type: 'multipart/form-data; boundary=x', payload });
}

/**
 * Bytes that are not valid UTF-8: truncated characters, surrogates, overlong forms, and code points above the maximum.
 */
const notUtf8 = [
  ...['\xe9', 'caf\xe9 & more', 'caf\xc3', '\x80', '\xff', '\xf0\x9f\x98', '\xc3\x28'],
  ...['a\xed\xa0\xbdb', '\xed\xa0\xbd\xed\xb8\x80', 'a\xc0\xafb', '\xe0\x80\xaf', '\xf4\x90\x80\x80'],
];
const escaped = (text: string) =>
  text.replace(/[^a-z]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);

describe.each(Object.entries(ways))('%s', (_name, send) => {
  it.each([
    ['100%25+and+50%+off+%41', '100% and 50% off A'],
    ['caf%C3%A9%20%26+more%20%F0%9F%98%80', 'café & more 😀'],
    ['%', '%'],
    ['%%41%4', '%A%4'],
    ['%zz%C3%A9', '%zzé'],
    ['%ef%bb%bfa', '\ufeffa'],
    ['a%3Db%3F%23%2Fc%25', 'a=b?#/c%'],
  ])('decodes each valid escape in %s, and keeps all other text', async (sent, name) => {
    expect(await send(sent)).toEqual([200, name]);
  });

  it.each(notUtf8.map(escaped))('is refused for %s, which is not UTF-8', async (sent) => {
    expect(await send(sent)).toEqual([400, expect.stringMatching(/^Invalid (?:name|path): must be UTF-8$/)]);
  });
});

describe('a value', () => {
  it('may have unescaped bytes if they are UTF-8', async () => {
    const raw = Buffer.from('name=жук 100%').toString('latin1');
    expect(await ask({ url: '/thing', type: form, payload: bytes(raw) })).toEqual([200, 'жук 100%']);
    for (const each of notUtf8) {
      expect((await ask({ url: '/thing', type: form, payload: bytes(`name=${each}`) }))[0]).toBe(400);
    }
  });

  it('in a multipart form follows the same rule', async () => {
    expect(await multipart(Buffer.from('жук 100%25'))).toEqual([200, 'жук 100%25']);
    expect(await multipart(Buffer.from('a\ufffdb'))).toEqual([200, 'a\ufffdb']);
    for (const each of notUtf8) {
      expect(await multipart(bytes(each))).toEqual([400, 'Invalid name: must be UTF-8']);
    }
  });

  it('in a JSON body must be UTF-8', async () => {
    const send = (text: Buffer) => ask({ url: '/json', type: 'application/json', payload: text });
    expect(await send(Buffer.from('{"name":"жук"}'))).toEqual([200, 'жук']);
    expect(await send(bytes('{"name":"caf\xe9"}'))).toEqual([400, 'The request body must be UTF-8']);
  });

  it('never makes an operation fail if the operation does not declare it', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: '/thing?name=a&other=%e9&%e9=1',
    });
    expect(JSON.parse(answer.body)).toMatchObject({
      name: 'a',
      ignored_parameters_unsupported: ['%e9', 'other'],
    });
  });
});

describe('percent-decoding', () => {
  it('decodes the output of encodeURIComponent and URLSearchParams', async () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom('%', '&', '=', '+', ' '),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        fc.pre(!value.includes('\0'));
        expect(percentDecode(encodeURIComponent(value))).toBe(value);
        const payload = Buffer.from(String(new URLSearchParams({ name: value, '%': value })));
        expect(await ask({ url: '/thing', type: form, payload })).toEqual([200, value]);
      }),
      { numRuns: 200 },
    );
  });

  it('decodes exactly what a UTF-8 decoder accepts', () => {
    const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 8 }), (sent) => {
        const text = [...sent].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
        let expected: string | undefined;
        try {
          expected = strict.decode(sent);
        } catch {
          expected = undefined;
        }
        expect(percentDecode(text)).toBe(expected);
      }),
    );
  });
});

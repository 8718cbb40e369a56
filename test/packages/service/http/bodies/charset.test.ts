import { text } from 'node:stream/consumers';
import { createHttpApp } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createMemoryLog } from '../../../../support/memory-log.js';
import { testOperation } from '../../../../support/test-operation.js';

let app: Awaited<ReturnType<typeof createHttpApp>>;

beforeAll(async () => {
  const parameters = z.object({ name: z.string().optional() });
  const taking = (body: 'form' | 'json' | 'file') =>
    testOperation({
      method: 'POST',
      path: `/${body}`,
      body,
      parameters,
      handle: async ({ parameters: { name }, file }) => ({
        name: String(name),
        ...(file && { file: file.name, content: await text(file.content) }),
      }),
    });
  app = await createHttpApp({
    log: createMemoryLog().log,
    metrics: new Metrics(),
    operations: [taking('form'), taking('json'), taking('file')],
    readiness: {},
  });
});
afterAll(() => app.close());

async function send(url: string, type: string, payload: string | Buffer) {
  const headers = { 'content-type': type };
  const { statusCode, body } = await app.inject({ method: 'POST', url, headers, payload });
  const { msg, name, file } = JSON.parse(body);
  return { status: statusCode, msg, name, file };
}

const multipartType = 'multipart/form-data; boundary=x';
const urlencodedType = 'application/x-www-form-urlencoded';
const part = (disposition: string, value: string, header = '') =>
  `--x\r\ncontent-disposition: form-data; ${disposition}${header && `\r\n${header}`}\r\n\r\n${value}\r\n`;
const field = (value: string, header = '') => part('name="name"', value, header);
const file = (header = '') => part('name="f"; filename="a.txt"', 'x', header);

/** Sends the text "café" in a request that declares a charset. */
type Declare = (charset: string) => ReturnType<typeof send>;
const ways: Readonly<Record<string, Declare>> = {
  'a urlencoded body': (charset) => send('/form', `${urlencodedType}; charset=${charset}`, 'name=caf%C3%A9'),
  'a JSON body': (charset) => send('/json', `application/json;Charset=${charset}`, '{"name":"café"}'),
  'a multipart body': (charset) =>
    send('/form', `${multipartType}; charset=${charset}`, `${field('café')}--x--`),
  'a multipart body with a file': (charset) =>
    send('/file', `multipart/form-data; charset=${charset}; boundary=x`, `${field('café')}${file()}--x--`),
  'a part': (charset) =>
    send('/form', multipartType, `${field('café', `content-type: text/plain; charset=${charset}`)}--x--`),
  'a part before a file': (charset) => {
    const head = `content-type: text/plain; format=flowed; charset=${charset}`;
    return send('/file', multipartType, `${field('café', head)}${file()}--x--`);
  },
};

const utf8 = ['utf-8', 'UTF-8', 'utf8', '"utf-8"', '"UTF8"', 'us-ascii', 'unicode-1-1-utf-8', '', '""'];
const others = [
  'iso-8859-1',
  '"ISO-8859-1"',
  'latin1',
  'windows-1251',
  'utf-16le',
  'utf-7',
  'base64',
  'klingon',
];
const refusal = (charset: string) => ({
  status: 415,
  msg: `Unsupported charset: ${charset.replaceAll('"', '')}: send the body in UTF-8`,
});

describe.each(Object.entries(ways))('%s', (_way, declare) => {
  it('may declare UTF-8 by any of its names', async () => {
    for (const charset of utf8) expect(await declare(charset)).toMatchObject({ status: 200, name: 'café' });
  });

  it.each(others)('is rejected with the charset %s', async (charset) => {
    expect(await declare(charset)).toMatchObject(refusal(charset));
  });

  it('is rejected with two charsets', async () => {
    expect(await declare('utf-8; charset=iso-8859-1')).toMatchObject({
      status: 400,
      msg: "Header parameter 'charset' was sent more than once",
    });
  });
});

describe('the field _charset_', () => {
  const ways: Declare[] = [
    (charset) => send('/form', urlencodedType, `name=a&_charset_=${charset}`),
    (charset) => send('/form', multipartType, `${part('name="_charset_"', charset)}${field('a')}--x--`),
    (charset) =>
      send('/file', multipartType, `${part('name="_charset_"', charset)}${field('a')}${file()}--x--`),
  ];

  it('may name only UTF-8', async () => {
    for (const declare of ways) {
      expect(await declare('utf-8')).toMatchObject({ status: 200, name: 'a' });
      expect(await declare('iso-8859-1')).toMatchObject(refusal('iso-8859-1'));
    }
  });
});

describe('the name of a file', () => {
  const named = (disposition: string | Buffer) => {
    const [head = '', tail = ''] = part('name="f"; @', 'x').split('@');
    const parts = [head, disposition, tail, '--x--'].map((each) => Buffer.from(each));
    return send('/file', multipartType, Buffer.concat(parts));
  };

  it('may be extended UTF-8', async () => {
    for (const charset of ['utf-8', 'UTF-8']) {
      expect((await named(`filename*=${charset}''caf%C3%A9.txt`)).file).toBe('café.txt');
    }
    expect((await named('filename="café.txt"')).file).toBe('café.txt');
  });

  it('is rejected in another charset', async () => {
    expect(await named("filename*=iso-8859-1'en'caf%E9.txt")).toMatchObject(refusal('iso-8859-1'));
    const notUtf8 = { status: 400, msg: 'The name of a part or file must be UTF-8' };
    expect(await named("filename*=utf-8''caf%E9.txt")).toMatchObject(notUtf8);
    expect(await named(Buffer.from('filename="caf\xe9.txt"', 'latin1'))).toMatchObject(notUtf8);
  });
});

describe('a part', () => {
  it('is not read before a file if its charset is not UTF-8', async () => {
    const payload = Buffer.from(`${field('caf\xe9')}${file()}--x--`, 'latin1');
    expect(await send('/file', multipartType, payload)).toMatchObject({
      status: 400,
      msg: 'Invalid name: must be UTF-8',
    });
  });

  it('may be in any charset if it is a file', async () => {
    const payload = `${field('a')}${file('content-type: text/plain; charset=iso-8859-1')}--x--`;
    expect(await send('/file', multipartType, payload)).toMatchObject({ status: 200, file: 'a.txt' });
  });

  it('must not have a transfer encoding', async () => {
    for (const encoding of ['7bit', '8bit', 'Binary']) {
      const header = `content-transfer-encoding: ${encoding}`;
      const sent = send('/file', multipartType, `${field('a', header)}${file(header)}--x--`);
      expect(await sent).toMatchObject({ status: 200, name: 'a', file: 'a.txt' });
    }
    for (const encoding of ['base64', 'Quoted-Printable']) {
      const header = `content-transfer-encoding: ${encoding}`;
      const message = `Unsupported content transfer encoding: ${encoding}: send the part without encoding`;
      for (const parts of [`${field('YQ==', header)}${file()}`, file(header)]) {
        const sent = send('/file', multipartType, `${parts}--x--`);
        expect(await sent).toMatchObject({ status: 415, msg: message });
      }
    }
  });
});

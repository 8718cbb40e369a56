import { gzipSync } from 'node:zlib';
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
      handle: async ({ parameters: { name }, file }) => {
        file?.content.destroy();
        return { name: String(name) };
      },
    });
  const operations = [taking('form'), taking('json'), taking('file')];
  app = await createHttpApp({
    log: createMemoryLog().log,
    metrics: new Metrics(),
    operations,
    readiness: {},
  });
});
afterAll(() => app.close());

const file = '--x\r\ncontent-disposition: form-data; name="a"; filename="a.txt"\r\n\r\nsome\r\n--x--\r\n';
const bodies = [
  ['/form', 'application/x-www-form-urlencoded', 'name=a'],
  [
    '/form',
    'multipart/form-data; boundary=x',
    '--x\r\ncontent-disposition: form-data; name="name"\r\n\r\na\r\n--x--\r\n',
  ],
  ['/json', 'application/json', '{"name":"a"}'],
  ['/file', 'multipart/form-data; boundary=x', file],
] as const;

describe.each(bodies)('a compressed body for %s of type %s', (url, type, text) => {
  async function send(encoding: string, payload: Buffer) {
    const headers = { 'content-type': type, 'content-encoding': encoding };
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers, payload });
    return [statusCode, JSON.parse(body).msg];
  }

  it.each(['gzip', 'GZIP', 'deflate', 'br', 'zstd', 'identity, gzip', 'utf-8', 'x'.repeat(500)])(
    'is refused: %s',
    async (encoding) => {
      const message = `Unsupported content encoding: ${encoding.slice(0, 100)}: send the body without compression`;
      expect(await send(encoding, gzipSync(text))).toEqual([415, message]);
      expect(await send(encoding, Buffer.from(text))).toEqual([415, message]);
    },
  );

  it('is accepted if the header says that the body is not compressed', async () => {
    for (const encoding of ['identity', ' Identity ', '']) {
      expect(await send(encoding, Buffer.from(text))).toEqual([200, '']);
    }
  });
});

it('Content-Encoding is ignored without a body', async () => {
  const answer = await app.inject({
    method: 'POST',
    url: '/form?name=a',
    headers: { 'content-encoding': 'gzip' },
  });
  expect([answer.statusCode, answer.json().name]).toEqual([200, 'a']);
});

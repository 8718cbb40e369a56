import { createHttpApp } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import fc from '../../../../support/fast-check.js';
import { createMemoryLog } from '../../../../support/memory-log.js';
import { slownessOfMachine } from '../../../../support/processor-time.js';
import { testOperation } from '../../../../support/test-operation.js';

let app: Awaited<ReturnType<typeof createHttpApp>>;
const schema = z.object({ name: z.string() });

beforeAll(async () => {
  app = await createHttpApp({
    log: createMemoryLog().log,
    metrics: new Metrics(),
    operations: [
      testOperation({
        method: 'POST',
        path: '/thing',
        bodyLimitBytes: 1024 * 1024,
        parameters: schema,
        handle: async ({ parameters }) => ({ name: String(parameters.name) }),
      }),
    ],
    readiness: {},
  });
});
afterAll(() => app.close());

async function post(payload: string, boundary = 'boundary=x') {
  const headers = { 'content-type': `multipart/form-data; ${boundary}` };
  const { statusCode: status, body } = await app.inject({ method: 'POST', url: '/thing', headers, payload });
  return { status, body: JSON.parse(body) as Record<string, unknown> };
}

describe('a multipart form', () => {
  it('is refused if a part has no name, or a name of more than 100 bytes', async () => {
    const part = (disposition: string) =>
      post(`--x\r\ncontent-disposition: form-data${disposition}\r\n\r\n1\r\n--x--\r\n`);
    expect((await part('')).body).toMatchObject({
      code: 'BAD_REQUEST',
      msg: expect.stringContaining('name'),
    });
    expect((await part(`; name="${'\u00e9'.repeat(50)}n"`)).body.code).toBe('PAYLOAD_TOO_LARGE');
    // Missing parameters are reported only after the form is parsed.
    expect((await part(`; name="${'\u00e9'.repeat(50)}"`)).body.code).toBe('REQUEST_VARIABLE_MISSING');
  });

  it.each([
    ['content-type: text/plain', 'must have a name'],
    ['content-disposition: attachment; name="name"', 'must have a name'],
    [
      'content-disposition: form-data; name="name"\r\ncontent-disposition: form-data; name="b"',
      'more than one',
    ],
    ['content-disposition: form-data; name="name"; name="b"', "'name' was sent more than once"],
    ['content-disposition: form-data; name="name"\r\nno colon', 'must have an empty line'],
  ])('is refused if a part begins with %j', async (head, message) => {
    // In the last case, the empty line after the head is missing.
    const end = head.endsWith('no colon') ? '' : '\r\n\r\n';
    for (const more of ['', '--x\r\ncontent-disposition: form-data; name="name"\r\n\r\n1\r\n']) {
      const { status, body } = await post(`--x\r\n${head}${end}2\r\n${more}--x--\r\n`);
      expect([status, body.msg]).toEqual([400, expect.stringContaining(message)]);
    }
  });

  it('is refused without a boundary, with a long boundary, or with two boundaries', async () => {
    const send = (boundary: string, start = '') =>
      post(`--${start}\r\ncontent-disposition: form-data; name="name"\r\n\r\n1\r\n--${start}--`, boundary);
    const longest = 'y'.repeat(70);
    for (const good of ['x', longest]) expect((await send(`boundary="${good}"`, good)).status).toBe(200);
    for (const boundary of ['', 'boundary=', 'boundary=""', `boundary=${longest}y`]) {
      const { status, body } = await send(boundary, boundary.includes('y') ? `${longest}y` : '');
      expect([status, body.msg]).toEqual([400, expect.stringContaining('must name its boundary')]);
    }
    expect((await send('boundary=x; boundary=y', 'x')).body.msg).toContain(
      "'boundary' was sent more than once",
    );
  });

  it('is not parsed to the end if it has too many parts', async () => {
    const part = '--x\r\ncontent-disposition:form-data;name=a\r\n\r\n\r\n';
    const begun = process.cpuUsage();
    const { body } = await post(part.repeat(20_000));
    const { user, system } = process.cpuUsage(begun);
    expect(body.msg).toBe('A multipart form must have at most 200 parts');
    // Parsing the whole form would block the event loop for seconds.
    expect((user + system) / 1000).toBeLessThan(500 * slownessOfMachine());
  });

  it('always gets a response', async () => {
    const pieces = [
      '--x',
      '--x--',
      '\r\n',
      '\r\n\r\n',
      '--',
      'content-disposition: ',
      'form-data',
      '; ',
      'name=',
    ];
    const more = [
      '"',
      'a',
      '\\',
      '=',
      'filename=',
      "*=utf-8''%f",
      ': ',
      'content-type: text/plain',
      '\0',
      '\u00e9',
    ];
    const start = '--x\r\ncontent-disposition: form-data';
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces, ...more), { maxLength: 40 }), async (parts) => {
        for (const body of [parts.join(''), start + parts.join('')]) {
          expect([200, 400, 413]).toContain((await post(body)).status);
        }
      }),
    );
  });
});

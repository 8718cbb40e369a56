import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { receiveUploadForm } from '#service/http/bodies/multipart-form.js';

const type = 'multipart/form-data; boundary=x';
const mostBytes = 10_000_000;
const file = (content: string): string =>
  `--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${content}\r\n`;

const field = (disposition: string, value = '1'): string =>
  `--x\r\ncontent-disposition: form-data${disposition}\r\n\r\n${value}\r\n`;
const name = '; name="a"';
/** Invalid fields and their errors. */
const refusedFields: [string, string, string, string][] = [
  ['a field without a name', field(''), 'BAD_REQUEST', 'must have a name'],
  ['a long name', field(`; name="${'n'.repeat(101)}"`), 'PAYLOAD_TOO_LARGE', 'at most 100 bytes'],
  ['a large field', field(name, 'v'.repeat(65_536)), 'PAYLOAD_TOO_LARGE', 'fields of a multipart form'],
  [
    'large fields',
    field(name, 'v'.repeat(32_768)).repeat(2),
    'PAYLOAD_TOO_LARGE',
    'fields of a multipart form',
  ],
  ['many fields', field(name).repeat(200), 'BAD_REQUEST', 'at most 200 parts'],
];

/** Returns a form as a stream of chunks. */
function sourceOf(form: string): Readable {
  const pieces = form.match(/[\s\S]{1,16000}/g) ?? [];
  return Readable.from(pieces.map((piece) => Buffer.from(piece)));
}

describe('an upload', () => {
  it('is drained if the handler does not read the rest of its file', async () => {
    const source = sourceOf(`${file('x'.repeat(1_000_000))}--x--\r\n`);
    const form = await receiveUploadForm(source, type, mostBytes);
    form.file?.content.destroy();
    await finished(source);
    expect(source.readableEnded).toBe(true);
  });

  it('is drained if a second file is refused', async () => {
    const source = sourceOf(`${file('x')}${file('y'.repeat(1_000_000))}--x--\r\n`);
    const form = await receiveUploadForm(source, type, mostBytes);
    await expect(text(form.file?.content ?? Readable.from([]))).rejects.toThrow('one file at a time');
    await finished(source);
    expect(source.readableEnded).toBe(true);
  });

  it.each(refusedFields)('is refused with %s before the file', async (_what, fields, code, message) => {
    const form = receiveUploadForm(sourceOf(`${fields}${file('x')}--x--\r\n`), type, mostBytes);
    await expect(form).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it.each(refusedFields)('is refused with %s after the file', async (_what, fields, _code, message) => {
    for (const content of ['x', 'x'.repeat(100_000)]) {
      const form = await receiveUploadForm(sourceOf(`${file(content)}${fields}--x--\r\n`), type, mostBytes);
      await expect(text(form.file?.content ?? Readable.from([]))).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        message: expect.stringContaining(message),
      });
    }
  });

  it('may have 64 KiB of fields, of which the fields before the file are used', async () => {
    const [before, after] = [field(name, 'v'.repeat(65_533)), field(name)];
    const form = await receiveUploadForm(sourceOf(`${before}${file('x')}${after}--x--\r\n`), type, mostBytes);
    expect([form.entries.get('a')].flat().map((value) => value?.length)).toEqual([65_533]);
    await expect(text(form.file?.content ?? Readable.from([]))).resolves.toBe('x');
  });

  it('fails if the form is malformed after its file', async () => {
    const source = new PassThrough();
    source.write(`${file('x'.repeat(1000))}--x\r\n`);
    const form = await receiveUploadForm(source, type, mostBytes);
    const content = form.file?.content ?? Readable.from([]);
    const refused = expect(text(content)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    source.end('content-disposition: form-data; na');
    await refused;
  });

  it.each([new Error('gone'), undefined])(
    'fails if its connection ends before its file (%s)',
    async (error) => {
      const source = new PassThrough();
      source.write('--x\r\ncontent-disposition: form-data; na');
      const form = receiveUploadForm(source, type, mostBytes);
      source.destroy(error);
      await expect(form).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    },
  );
});

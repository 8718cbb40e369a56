import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { receiveUploadForm } from '#service/http/multipart-form.js';

const type = 'multipart/form-data; boundary=x';
const mostBytes = 10_000_000;
const file = (content: string): string =>
  `--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${content}\r\n`;

/** A form as it comes from a connection, in pieces. */
function sourceOf(form: string): Readable {
  const pieces = form.match(/[\s\S]{1,16000}/g) ?? [];
  return Readable.from(pieces.map((piece) => Buffer.from(piece)));
}

describe('an upload', () => {
  it('is read to its end also when nobody wants the rest of its file', async () => {
    const source = sourceOf(`${file('x'.repeat(1_000_000))}--x--\r\n`);
    const form = await receiveUploadForm(source, type, mostBytes);
    form.file?.content.destroy();
    await finished(source);
    expect(source.readableEnded).toBe(true);
  });

  it('is read to its end also when a second file comes that is refused', async () => {
    const source = sourceOf(`${file('x')}${file('y'.repeat(1_000_000))}--x--\r\n`);
    const form = await receiveUploadForm(source, type, mostBytes);
    await expect(text(form.file?.content ?? Readable.from([]))).rejects.toThrow('one file at a time');
    await finished(source);
    expect(source.readableEnded).toBe(true);
  });

  it('is not over with its file: what follows may prove it to be no form', async () => {
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
    'fails when its connection ends before its file (%s)',
    async (error) => {
      const source = new PassThrough();
      source.write('--x\r\ncontent-disposition: form-data; na');
      const form = receiveUploadForm(source, type, mostBytes);
      source.destroy(error);
      await expect(form).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    },
  );
});

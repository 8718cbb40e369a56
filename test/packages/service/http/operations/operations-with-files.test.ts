import { text } from 'node:stream/consumers';
import type { JsonObject } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { TestOperation } from '../../../../support/test-operation.js';
import { serve } from './serve-operations.js';

describe('a file', () => {
  const upload: TestOperation = {
    method: 'POST',
    path: '/upload',
    body: 'file',
    bodyLimitBytes: 100_000,
    parameters: z.object({ note: z.string().optional() }),
    async handle({ file, parameters }) {
      if (file === undefined) return { file: null, ...(parameters as JsonObject) };
      const content = await text(file.content);
      return {
        name: file.name,
        type: file.contentType,
        bytes: content.length,
        ...(parameters as JsonObject),
      };
    },
  };
  const part = (head: string, content: string) =>
    `--x\r\ncontent-disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  const picture = (content: string) =>
    part('name="file"; filename="a b.png"\r\ncontent-type: image/png', content);
  const send = async (...parts: string[]) => {
    const server = await serve(upload);
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    return server.inject({ method: 'POST', url: '/upload', headers, payload: `${parts.join('')}--x--\r\n` });
  };

  it('reaches the operation as a stream, with the fields before it', async () => {
    const answer = await send(part('name="note"', 'holiday'), picture('x'.repeat(90_000)));
    expect(answer.json()).toMatchObject({
      name: 'a b.png',
      type: 'image/png',
      bytes: 90_000,
      note: 'holiday',
    });
  });

  it('is refused once it is too large', async () => {
    expect((await send(picture('x'.repeat(200_000)))).json()).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  it('is refused if a second file follows', async () => {
    const answer = await send(picture('x'.repeat(90_000)), picture('y'));
    expect(answer.json()).toMatchObject({ code: 'BAD_REQUEST', msg: 'You may only send one file at a time' });
  });

  it('is refused in an incomplete form', async () => {
    const server = await serve(upload);
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const payload = `${picture('x'.repeat(500))}--x\r\ncontent-disposition: form-data; na`;
    const answer = await server.inject({ method: 'POST', url: '/upload', headers, payload });
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'BAD_REQUEST']);
  });

  it('may be missing', async () => {
    expect((await send(part('name="note"', 'none'))).json()).toMatchObject({ file: null, note: 'none' });
  });

  it('is refused if it is truncated', async () => {
    const server = await serve(upload);
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const half = picture('x'.repeat(500)).slice(0, 300);
    const answer = await server.inject({ method: 'POST', url: '/upload', headers, payload: half });
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'BAD_REQUEST']);
  });

  it('does not raise the limit for other bodies', async () => {
    const server = await serve(upload);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const payload = `note=${'x'.repeat(70_000)}`;
    const answer = await server.inject({ method: 'POST', url: '/upload', headers, payload });
    expect(answer.json().code).toBe('PAYLOAD_TOO_LARGE');
  });

  it('is refused by operations that take no file', async () => {
    const server = await serve(upload, { method: 'POST', path: '/plain', handle: async () => ({}) });
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const payload = `${picture('x')}--x--\r\n`;
    const answer = await server.inject({ method: 'POST', url: '/plain', headers, payload });
    expect(answer.json().msg).toBe('Files are not accepted');
  });
});

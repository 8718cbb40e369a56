import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqliteBackend } from '../../../support/test-databases.js';
import { OrganisationUnderTest } from '../organisation-under-test.js';
import { type TestFile, upload } from './send-file.js';

describe('a served file', () => {
  const backend = sqliteBackend();
  const organisation = new OrganisationUnderTest();
  beforeAll(async () => organisation.start(await backend.freshUrl()));
  afterAll(() => organisation.server.close());

  async function get(path: string, headers: Record<string, string> = {}) {
    const { authorization } = organisation.accounts.member;
    const url = `/user_uploads/${encodeURI(path)}`;
    const request = { method: 'GET' as const, url, headers: { ...headers, authorization } };
    return organisation.server.server.app.inject(request);
  }

  async function sent(file: Partial<TestFile>) {
    return get(await upload(organisation, organisation.accounts.member, file));
  }

  it.each([
    ['image/png', 'image/png'],
    ['IMAGE/JPEG', 'image/jpeg'],
    ['video/mp4; codecs=x', 'video/mp4'],
    ['text/plain', 'text/plain; charset=utf-8'],
  ])('of the type %s is shown as %s', async (type, contentType) => {
    const { headers } = await sent({ type });
    expect(headers['content-type']).toBe(contentType);
    expect(headers['content-disposition']).toMatch(/^inline; /);
  });

  it.each([
    ['text/html', 'page.html', '<script>alert(1)</script>'],
    ['image/svg+xml', 'picture.svg', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['application/xhtml+xml', 'page.xhtml', '<html/>'],
    ['text/xml', 'page.xml', '<?xml-stylesheet href="x"?>'],
    ['application/javascript', 'script.js', 'alert(1)'],
    ['application/pdf', 'paper.pdf', '%PDF'],
    ['nonsense', 'x', 'x'],
    ['text/html\u00a0', 'x', 'x'],
  ])('of the type %s is downloaded and never run', async (type, name, content) => {
    const { headers, payload } = await sent({ type, name, content });
    expect(payload).toBe(content);
    expect(headers['content-type']).toBe('application/octet-stream');
    expect(headers['content-disposition']).toMatch(/^attachment; /);
  });

  it('has a sandbox policy for every type, and is never cached', async () => {
    for (const type of ['image/png', 'text/html']) {
      expect((await sent({ type })).headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
        'cache-control': 'private, no-store',
      });
    }
  });

  it('has its name in an encoding that all clients can read', async () => {
    const { headers } = await sent({ name: `naïve 名前 'a' (1); %41.png` });
    expect(headers['content-disposition']).toBe(
      "inline; filename=\"na_ve __ 'a' (1)_ _41.png\"; filename*=UTF-8''na%C3%AFve%20%E5%90%8D%E5%89%8D%20%27a%27%20%281%29%3B%20%2541.png",
    );
  });

  describe('a file requested with a Range header', () => {
    let path: string;
    beforeAll(async () => {
      path = await upload(organisation, organisation.accounts.member, { content: '0123456789' });
    });

    it.each([
      ['bytes=0-3', '0123', 'bytes 0-3/10'],
      ['bytes=4-4', '4', 'bytes 4-4/10'],
      ['bytes=7-', '789', 'bytes 7-9/10'],
      ['bytes=7-99', '789', 'bytes 7-9/10'],
      ['bytes=-2', '89', 'bytes 8-9/10'],
      ['bytes=-99', '0123456789', 'bytes 0-9/10'],
    ])('is sent in part for %s: %j', async (range, content, contentRange) => {
      const { headers, payload, statusCode } = await get(path, { range });
      expect([statusCode, payload, headers['content-range']]).toEqual([206, content, contentRange]);
      expect(headers['content-length']).toBe(String(content.length));
    });

    it.each(['bytes=10-', 'bytes=-0', 'bytes=99-100'])(
      'is not sent for %s: the response is 416 with the file’s size',
      async (range) => {
        const { headers, statusCode } = await get(path, { range });
        expect([statusCode, headers['content-range']]).toEqual([416, 'bytes */10']);
      },
    );

    it.each(['bytes=0-1,3-4', 'bytes=3-1', 'lines=1-2', 'bytes=-', 'bytes=a-b'])(
      'is sent whole for %s',
      async (range) => {
        const { headers, payload, statusCode } = await get(path, { range });
        expect([statusCode, payload, headers['content-length']]).toEqual([200, '0123456789', '10']);
      },
    );

    it('is sent whole if If-Range does not match', async () => {
      expect(await get(path, { range: 'bytes=0-1', 'if-range': '"x"' })).toMatchObject({ statusCode: 200 });
    });

    it('has no range if it is empty', async () => {
      const empty = await upload(organisation, organisation.accounts.member, { content: '' });
      expect(await get(empty, { range: 'bytes=0-' })).toMatchObject({ statusCode: 416 });
      expect(await get(empty)).toMatchObject({ statusCode: 200, payload: '' });
    });
  });

  it('does not exist if its bytes are missing', async () => {
    const path = await upload(organisation, organisation.accounts.member);
    rmSync(join(organisation.server.folder, 'uploads', path));
    expect(await get(path)).toMatchObject({ statusCode: 404 });
  });
});

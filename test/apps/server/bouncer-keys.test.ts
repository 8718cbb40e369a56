import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RelayReaction, refused } from '../../support/relay-stand-in.js';
import { type Answer, ServerUnderTest } from './server-under-test.js';

const url = '/api/v1/mobile_push/bouncer_keys';
let test: ServerUnderTest;
beforeEach(async () => {
  test = await ServerUnderTest.start();
});
afterEach(() => test.close());

// Only phones parse the list. The server must pass its bytes on unchanged, including white space and padding.
function listed(name: string): { fields: Record<string, string>; reaction: RelayReaction } {
  const fields = {
    key_list: Buffer.from(`{"version": 1 , "name":"${name}"}\n`).toString('base64'),
    signature: Buffer.alloc(64, name).toString('base64'),
    signing_public_key: Buffer.alloc(32, 'k').toString('base64'),
  };
  return { fields, reaction: { status: 200, body: { result: 'success', msg: '', more: 1, ...fields } } };
}

const get = (headers: Record<string, string> = {}): Promise<Answer> =>
  test.send({ method: 'GET', url, headers });

describe('the relay’s key list', () => {
  it('is fetched from the relay without credentials and passed on unchanged to any client', async () => {
    const { fields, reaction } = listed('a');
    test.relay.otherwise(reaction);
    const { status, headers, body } = await get();
    expect([status, body]).toEqual([200, { result: 'success', msg: '', ...fields }]);
    expect(headers['cache-control']).toBe('public, max-age=5');
    const [request] = test.relay.requests;
    expect([request?.method, request?.path]).toEqual(['GET', '/api/v1/remotes/push/e2ee/keys']);
    expect(request?.headers.authorization).toBeUndefined();
  });

  it('gets a 304 response if the client already has it, and a full response after it has changed', async () => {
    test.relay.otherwise(listed('a').reaction);
    const etag = String((await get()).headers.etag);
    for (const names of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await test.server.app.inject({
        method: 'GET',
        url,
        headers: { 'if-none-match': names },
      });
      expect([response.statusCode, response.body, response.headers.etag]).toEqual([304, '', etag]);
    }
    test.relay.otherwise(listed('b').reaction);
    test.now += 5000;
    const fresh = await get({ 'if-none-match': etag });
    expect([fresh.status, fresh.body.key_list]).toEqual([200, listed('b').fields.key_list]);
  });

  it('is fetched from the relay at most once in five seconds, even if many phones request it concurrently', async () => {
    test.relay.otherwise(listed('a').reaction);
    await Promise.all(Array.from({ length: 20 }, () => get()));
    test.now += 4999;
    await get();
    expect(test.relay.requests).toHaveLength(1);
    test.now += 1;
    await Promise.all(Array.from({ length: 20 }, () => get()));
    expect(test.relay.requests).toHaveLength(2);
    test.now -= 3_600_000;
    await get();
    expect(test.relay.requests).toHaveLength(3);
  });

  it('is served from the last valid response while the relay fails', async () => {
    const { fields, reaction } = listed('a');
    test.relay.next(reaction);
    await get();
    for (const trouble of ['cut', { status: 500 }, { status: 200, body: '{}' }] as const) {
      test.relay.otherwise(trouble);
      test.now += 60_000;
      expect((await get()).body).toMatchObject(fields);
    }
    expect(test.relay.requests).toHaveLength(4);
  });

  it.each<[RelayReaction, number, string]>([
    ['cut', 502, 'FAILED_TO_CONNECT_BOUNCER'],
    [{ status: 503 }, 502, 'INTERNAL_SERVER_ERROR_ON_BOUNCER'],
    [{ status: 200, body: '<html>' }, 403, 'ADMIN_ACTION_REQUIRED'],
    [
      { status: 200, body: { result: 'success', key_list: '', signature: '', signing_public_key: '' } },
      403,
      'ADMIN_ACTION_REQUIRED',
    ],
    [refused(404, 'NOT_FOUND'), 404, 'NOT_FOUND'],
  ])('without a cached list, the relay’s response %j becomes %i %s', async (reaction, status, code) => {
    test.relay.otherwise(reaction);
    const answer = await get();
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    await get();
    expect(test.relay.requests).toHaveLength(1);
  });

  it('is unavailable on a server without a relay', async () => {
    const lonely = await ServerUnderTest.start({ withoutRelay: true });
    const { status, body } = await lonely.send({ method: 'GET', url });
    expect([status, body.code]).toEqual([400, 'PUSH_SERVICE_NOT_CONFIGURED']);
    await lonely.close();
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import {
  basic,
  goodForm,
  otherRealmUuid,
  type RelayUnderTest,
  realmUuid,
  startRelayUnderTest,
} from '../relay-under-test.js';

type Headers = Record<string, string | undefined>;

const unknownUuid = '00000000-0000-4000-8000-000000000000';
const wrongKey = '0'.repeat(64);

eachBackend((backend) => {
  let relay: RelayUnderTest;
  beforeAll(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl());
  });
  afterAll(() => relay.close());

  /** Sends a request. Requires that the relay refuses it and changes nothing. */
  async function refusal(form: string | Record<string, string>, headers: Headers = {}) {
    const before = await relay.rows();
    const { status, body, headers: answered } = await relay.register(form, headers);
    expect(await relay.rows()).toEqual(before);
    expect(body.result).toBe('error');
    expect(await relay.keyUses()).toEqual({});
    return { status, code: body.code, msg: body.msg, body, headers: answered };
  }

  describe('a server that fails to authenticate', () => {
    it.each([
      ['no header', undefined, 401, 'UNAUTHORIZED', 'Missing authorization header for basic auth'],
      ['no pair', 'Basic', 401, 'UNAUTHORIZED', 'Invalid authorization header for basic auth'],
      ['no base64', 'Basic %%%', 401, 'UNAUTHORIZED', 'Invalid authorization header for basic auth'],
      [
        'no colon',
        `Basic ${btoa('abc')}`,
        401,
        'UNAUTHORIZED',
        'Invalid authorization header for basic auth',
      ],
      [
        'two colons',
        `Basic ${btoa('a:b:c')}`,
        401,
        'UNAUTHORIZED',
        'Invalid authorization header for basic auth',
      ],
      [
        'another scheme',
        'Bearer abc',
        400,
        'BAD_REQUEST',
        'This endpoint requires HTTP basic authentication.',
      ],
      [
        "a user's email address",
        basic('a@example.com', wrongKey),
        400,
        'BAD_REQUEST',
        'Must validate with valid Zulip server API key',
      ],
    ])('gets an error that names the problem: %s', async (_name, authorization, status, code, msg) => {
      const answer = await refusal(goodForm(), { authorization });
      expect(answer).toMatchObject({ status, code, msg });
      if (status === 401) expect(answer.headers['www-authenticate']).toBe('Basic realm="zulip"');
    });

    it('gets the same error for an unknown id, a malformed id and a wrong key', async () => {
      const unknown = await refusal(goodForm(), { authorization: basic(unknownUuid, wrongKey) });
      const noUuid = await refusal(goodForm(), { authorization: basic('nobody', wrongKey) });
      const wrong = await refusal(goodForm(), { authorization: basic(relay.server.serverId, wrongKey) });
      expect(unknown).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
      expect(noUuid.body).toEqual(unknown.body);
      expect(wrong.body).toEqual(unknown.body);
    });

    it('gets no error about parameters', async () => {
      const answer = await refusal('', { authorization: basic(unknownUuid, wrongKey) });
      expect(answer).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    });
  });

  describe('parameters', () => {
    it.each([
      ['realm_uuid', 'realm_uuid'],
      // Without either id, the relay expects the newer generation, which requires token_id.
      ['push_account_id', 'token_id'],
      ['encrypted_push_registration', 'encrypted_push_registration'],
      ['bouncer_public_key', 'bouncer_public_key'],
    ])('must occur exactly once: %s (reported as %s if it is missing)', async (name, missing) => {
      const { [name]: value = '', ...others } = goodForm();
      expect(await refusal(others)).toMatchObject({
        status: 400,
        code: 'REQUEST_VARIABLE_MISSING',
        msg: `Missing '${missing}' argument`,
        body: { var_name: missing },
      });
      const twice = new URLSearchParams([...Object.entries(goodForm()), [name, value]]).toString();
      expect(await refusal(twice)).toMatchObject({
        status: 400,
        code: 'BAD_REQUEST',
        msg: `Argument '${name}' was sent more than once`,
      });
    });

    it.each([
      ['realm_uuid', ''],
      ['realm_uuid', 'zulip'],
      ['realm_uuid', `${realmUuid} `],
      ['push_account_id', ''],
      ['push_account_id', 'abc'],
      ['push_account_id', '1.5'],
      ['push_account_id', '1e3'],
      ['push_account_id', ' 7'],
      ['push_account_id', '9223372036854775808'],
      ['push_account_id', '-9223372036854775809'],
    ])('must be valid: %s=%j is refused with a message that names the parameter', async (name, value) => {
      const answer = await refusal(goodForm({ [name]: value }));
      expect(answer).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
      expect(answer.msg).toContain(`Invalid ${name}`);
    });

    it('are checked before realm, key and sealed bytes', async () => {
      const answer = await refusal(
        goodForm({ push_account_id: 'x', realm_uuid: unknownUuid, bouncer_public_key: 'unknown' }),
      );
      expect(answer.msg).toContain('Invalid push_account_id');
    });
  });

  describe('the body', () => {
    it('may be up to 128 KiB', async () => {
      const start = new URLSearchParams(goodForm()).toString();
      const fill = (bytes: number) => `${start}&padding=`.padEnd(bytes, 'x');
      expect(await refusal(fill(128 * 1024 + 1))).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
      expect((await refusal(fill(128 * 1024), { authorization: basic(unknownUuid, wrongKey) })).status).toBe(
        401,
      );
    });

    it.each([
      ['application/json', JSON.stringify(goodForm())],
      ['text/plain', 'hello'],
      ['application/xml', '<a/>'],
    ])('must not be %s', async (type, body) => {
      expect(await refusal(body, { 'content-type': type })).toMatchObject({
        status: 415,
        code: 'UNSUPPORTED_MEDIA_TYPE',
      });
    });

    it('must not be a truncated multipart form', async () => {
      const headers = { 'content-type': 'multipart/form-data; boundary=x' };
      expect(await refusal('--x\r\nContent-Disposition: form-data; na', headers)).toMatchObject({
        status: 400,
        code: 'BAD_REQUEST',
      });
    });

    it('must come with POST: GET gets 405 with the allowed method', async () => {
      const answer = await relay.app.inject({ method: 'GET', url: '/api/v1/remotes/push/e2ee/register' });
      expect(answer.statusCode).toBe(405);
      expect(answer.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED', allowed_methods: ['POST'] });
    });
  });

  describe('the realm', () => {
    it('must be registered, which is checked before the key', async () => {
      expect(
        await refusal(goodForm({ realm_uuid: unknownUuid, bouncer_public_key: 'unknown' })),
      ).toMatchObject({
        status: 403,
        code: 'MISSING_REMOTE_REALM',
        msg: 'Organization not registered',
      });
    });

    it('must not belong to another server', async () => {
      expect(await refusal(goodForm({ realm_uuid: otherRealmUuid }))).toMatchObject({
        status: 403,
        code: 'REMOTE_REALM_SERVER_MISMATCH_ERROR',
        msg: 'Your organization is registered to a different Zulip server. Ask the operator of the push notification service to resolve this.',
      });
    });
  });

  it('refuses an unknown bouncer key before it decodes the sealed bytes', async () => {
    expect(
      await refusal(goodForm({ bouncer_public_key: 'unknown', encrypted_push_registration: '@' })),
    ).toMatchObject({ status: 400, code: 'INVALID_BOUNCER_PUBLIC_KEY', msg: 'Invalid bouncer_public_key' });
  });

  it('logs no parameter value and no credential', () => {
    const logged = relay.logged();
    expect(logged).toContain('"code":"UNAUTHORIZED"');
    for (const secret of [...Object.values(goodForm()).slice(1), relay.server.serverKey.reveal(), wrongKey]) {
      if (secret.length > 10) expect(logged).not.toContain(secret);
    }
  });
});

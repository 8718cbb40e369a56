import { maximumEncryptedPushRegistrationCharacters } from '@waxwing/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Account, type Answer, ServerUnderTest, testPhone } from './server-under-test.js';

const path = '/api/v1/mobile_push/register';
const formType = 'application/x-www-form-urlencoded';
let test: ServerUnderTest;
let ada: Account;
let bot: Account;

beforeAll(async () => {
  test = await ServerUnderTest.start();
  ada = await test.addAccount('ada@example.com');
  bot = await test.addAccount('bot@example.com', { isBot: true });
});
afterAll(() => test.close());
afterEach(async () => {
  await test.settle();
  expect(await test.server.database.db.selectFrom('push_devices').selectAll().execute()).toEqual([]);
  expect(test.relay.requests).toEqual([]);
});

const good = () => testPhone('17').fields;
const base64Of = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64');

async function sendRaw(payload: string, headers: Record<string, string> = {}): Promise<Answer> {
  const all = { authorization: ada.authorization, 'content-type': formType, ...headers };
  return test.send({ method: 'POST', url: path, headers: all, payload });
}

describe('a push registration', () => {
  it.each(Object.keys(good()))('is refused without side effects when %s is missing', async (name) => {
    const { [name]: _, ...fields } = good();
    const { status, body } = await test.register(ada, fields);
    expect([status, body]).toEqual([
      400,
      {
        result: 'error',
        msg: `Missing '${name}' argument`,
        code: 'REQUEST_VARIABLE_MISSING',
        var_name: name,
      },
    ]);
  });

  it.each([
    ['token_kind', 'gcm'],
    ['token_kind', 'FCM'],
    ['token_kind', ''],
    ['push_account_id', 'abc'],
    ['push_account_id', '1.5'],
    ['push_account_id', '"12"'],
    ['push_account_id', '9223372036854775808'],
    ['push_account_id', '-9223372036854775809'],
    ['push_public_key', ''],
    ['push_public_key', base64Of(31)],
    ['push_public_key', base64Of(33)],
    ['push_public_key', base64Of(32).replace('=', '')],
    ['push_public_key', base64Of(32).replace(/.=$/, 'd=')],
    ['push_public_key', `${'-'.repeat(43)}=`],
    ['push_public_key', Buffer.alloc(32).toString('base64')],
    ['push_public_key', Buffer.from([1, ...Array(31).fill(0)]).toString('base64')],
    ['bouncer_public_key', 'bouncer'],
    ['bouncer_public_key', base64Of(16)],
    ['encrypted_push_registration', ''],
    ['encrypted_push_registration', 'not base64!'],
    ['encrypted_push_registration', base64Of(48)],
    ['encrypted_push_registration', base64Of(100).replaceAll('=', '')],
    ['encrypted_push_registration', base64Of(100).replaceAll('B', '_')],
    ['encrypted_push_registration', base64Of((maximumEncryptedPushRegistrationCharacters / 4) * 3 + 1)],
  ])('is refused without side effects when %s is %j', async (name, value) => {
    const { status, body } = await test.register(ada, { ...good(), [name]: value });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(body.msg).toContain(`Invalid ${name}: `);
  });

  it('is refused without side effects when a parameter is repeated', async () => {
    const parameters = new URLSearchParams(good());
    parameters.append('token_kind', 'apns');
    const { status, body } = await sendRaw(parameters.toString());
    expect([status, body.code, body.msg]).toEqual([
      400,
      'BAD_REQUEST',
      "Argument 'token_kind' was sent more than once",
    ]);
  });

  it('is refused without side effects when the body is larger than 128 KiB', async () => {
    const { status, body } = await sendRaw(`padding=${'x'.repeat(128 * 1024)}`);
    expect([status, body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('is refused without side effects when the body is JSON or of an unknown type', async () => {
    for (const [type, payload] of [
      ['application/json', JSON.stringify(good())],
      ['application/json', '{"token_kind":'],
      ['text/plain', new URLSearchParams(good()).toString()],
    ] as const) {
      const { status, body } = await sendRaw(payload, { 'content-type': type });
      expect([status, body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    }
  });

  it('is refused without side effects when the request has no credentials', async () => {
    const answer = await test.ask(undefined, 'POST', 'mobile_push/register', good());
    expect([answer.status, answer.body.code]).toEqual([401, 'UNAUTHORIZED']);
    expect(answer.headers['www-authenticate']).toBe('Basic realm="zulip"');
  });

  it.each([
    ['Basic', 401, 'UNAUTHORIZED'],
    ['Basic %%%', 401, 'UNAUTHORIZED'],
    ['Basic YWRh', 401, 'UNAUTHORIZED'],
    ['Bearer YWRhOmtleQ==', 400, 'BAD_REQUEST'],
  ])(
    'is refused without side effects when the Authorization header is %s',
    async (authorization, status, code) => {
      const answer = await sendRaw(new URLSearchParams(good()).toString(), { authorization });
      expect([answer.status, answer.body.code]).toEqual([status, code]);
    },
  );

  it('is refused when the API key is wrong, with the same message as for an unknown address', async () => {
    const answers = [];
    for (const [email, key] of [
      ['ada@example.com', bot.apiKey],
      ['nobody@example.com', ada.apiKey],
      ['ada@example.com', `${ada.apiKey} `],
    ]) {
      const authorization = `Basic ${Buffer.from(`${email}:${key}`).toString('base64')}`;
      answers.push(await sendRaw(new URLSearchParams(good()).toString(), { authorization }));
    }
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([
        401,
        { result: 'error', msg: 'Invalid API key', code: 'INVALID_API_KEY' },
      ]);
    }
  });

  it('is refused for a bot before any other check', async () => {
    const { status, body } = await test.register(bot, {});
    expect([status, body.code, body.msg]).toEqual([
      400,
      'BAD_REQUEST',
      'This endpoint does not accept bot requests.',
    ]);
    expect((await test.ask(bot, 'POST', 'mobile_push/e2ee/test_notification')).body.msg).toBe(body.msg);
  });

  it('is refused without side effects when the method is wrong', async () => {
    const answer = await test.ask(ada, 'GET', 'mobile_push/register', good());
    expect([answer.status, answer.body.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
  });
});

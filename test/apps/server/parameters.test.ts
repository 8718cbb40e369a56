import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Account, type Answer, ServerUnderTest, testPhone } from './server-under-test.js';

let test: ServerUnderTest;
let ada: Account;

beforeEach(async () => {
  test = await ServerUnderTest.start();
  ada = await test.addAccount('ada@example.com');
});
afterEach(() => test.close());

function multipart(fields: Readonly<Record<string, string>>): { type: string; payload: string } {
  const boundary = 'a-boundary-of-the-test';
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    payload: `${parts.join('')}--${boundary}--\r\n`,
  };
}

async function registerVia(way: string, fields: Record<string, string>): Promise<Answer> {
  const url = '/api/v1/mobile_push/register';
  const headers = { authorization: ada.authorization };
  const encoded = new URLSearchParams(fields).toString();
  if (way === 'the query string') return test.send({ method: 'POST', url: `${url}?${encoded}`, headers });
  if (way === 'a multipart form') {
    const { type, payload } = multipart(fields);
    return test.send({ method: 'POST', url, headers: { ...headers, 'content-type': type }, payload });
  }
  const type = 'application/x-www-form-urlencoded';
  return test.send({ method: 'POST', url, headers: { ...headers, 'content-type': type }, payload: encoded });
}

const ways = ['a URL-encoded form', 'a multipart form', 'the query string'];

describe('parameters', () => {
  it.each(ways)('are read from %s, with exact 64-bit integers', async (way) => {
    const id = '-9223372036854775808';
    const answer = await registerVia(way, testPhone(id).fields);
    expect([answer.status, answer.body]).toEqual([200, { result: 'success', msg: '' }]);
    expect(await test.pushDevices(ada)).toEqual({ [id]: { status: 'pending', error_code: null } });
  });

  it.each(ways)('are listed in the response if they are unknown and sent in %s', async (way) => {
    const answer = await registerVia(way, { ...testPhone('1').fields, colour: 'red', client: 'test' });
    expect(answer.body).toEqual({
      result: 'success',
      msg: '',
      ignored_parameters_unsupported: ['client', 'colour'],
    });
  });

  it('of DELETE are read from a form or the query string', async () => {
    for (const way of ['form', 'query']) {
      const { queue_id: id } = (await test.ask(ada, 'POST', 'register')).body;
      const answer =
        way === 'form'
          ? await test.ask(ada, 'DELETE', 'events', { queue_id: String(id) })
          : await test.send({
              method: 'DELETE',
              url: `/api/v1/events?queue_id=${id}`,
              headers: { authorization: ada.authorization },
            });
      expect([answer.status, answer.body.result]).toEqual([200, 'success']);
    }
  });

  it.each([
    ['content=caf%C3%A9%20%26+more%20%F0%9F%98%80', 'café & more 😀'],
    ['content=100%25 and 50% off %41', '100% and 50% off A'],
    ['content=caf%E9%20%26+more', undefined],
    ['content=a%ED%A0%BDb', undefined],
    ['content=caf%C3', undefined],
    ['content=a%C0%AFb', undefined],
    ['content=caf\u00e9', undefined],
  ])('of a message are stored as sent, or refused by name: %s', async (content, stored) => {
    const payload = Buffer.from(`type=direct&to=[${ada.userId}]&${content}`, 'latin1');
    const headers = { authorization: ada.authorization, 'content-type': 'application/x-www-form-urlencoded' };
    const sent = await test.send({ method: 'POST', url: '/api/v1/messages', headers, payload });
    if (stored === undefined) {
      expect([sent.status, sent.body.msg]).toEqual([400, 'Invalid content: must be UTF-8']);
    } else {
      const { body } = await test.ask(ada, 'GET', `messages/${sent.body.id}`, { apply_markdown: 'false' });
      expect(body.message).toMatchObject({ content: stored });
    }
  });

  it('can be JSON-encoded numbers, booleans and lists, as Python clients send them', async () => {
    const { queue_id: id } = (await test.ask(ada, 'POST', 'register', { event_types: '["push_device"]' }))
      .body;
    const query = { queue_id: String(id), last_event_id: '-1', dont_block: 'true' };
    expect((await test.ask(ada, 'GET', 'events', query)).body.events).toEqual([]);
  });

  it.each([
    ['register', 'event_types', 'push_device'],
    ['register', 'event_types', '{"a":1}'],
    ['register', 'event_types', '[1]'],
    ['events', 'last_event_id', '1.5'],
    ['events', 'last_event_id', '5'],
    ['events', 'dont_block', 'True'],
  ])('of %s are refused when %s is %s', async (operation, name, value) => {
    const { queue_id: id } = (await test.ask(ada, 'POST', 'register')).body;
    const query = { queue_id: String(id), last_event_id: '-1', dont_block: 'true', [name]: value };
    const answer =
      operation === 'register'
        ? await test.ask(ada, 'POST', 'register', { [name]: value })
        : await test.ask(ada, 'GET', 'events', query);
    expect([answer.status, answer.body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(answer.body.msg).toContain(`Invalid ${name}`);
  });
});

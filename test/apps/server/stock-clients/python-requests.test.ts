import { beforeAll, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { testPhone } from '../server-under-test.js';
import { administering } from './python-administering-rows.js';
import { askAsPython, type PythonRequest, pythonForm } from './python-client.js';
import { reading, type World, writing } from './python-rows.js';

describe('the stand-in for the Python library', () => {
  it('encodes parameters as Python does', () => {
    expect(pythonForm({ a: { é: [1, 2], b: true }, none: undefined, c: 'a b*~+/@(é)✔' })).toBe(
      'a=%7B%22%5Cu00e9%22%3A+%5B1%2C+2%5D%2C+%22b%22%3A+true%7D&c=a+b%2A~%2B%2F%40%28%C3%A9%29%E2%9C%94',
    );
  });
});

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let base: string;
  let world: World;
  const ask = async (request: PythonRequest) => askAsPython(base, organisation.accounts.owner, request);

  beforeAll(async () => {
    base = await organisation.server.server.app.listen({ host: '127.0.0.1', port: 0 });
    const made = async (request: PythonRequest) => (await ask(request)).body;
    const name = 'blue & green (été)';
    await made({
      method: 'POST',
      path: 'users/me/subscriptions',
      parameters: { subscriptions: [{ name }], authorization_errors_fatal: true },
    });
    const { stream_id } = await made({ method: 'GET', path: 'get_stream_id', parameters: { stream: name } });
    const { id: message } = await made({
      method: 'POST',
      path: 'messages',
      parameters: { type: 'stream', to: name, topic: 'A+B = 100%', content: 'Zwölf *Boxkämpfer* ✔' },
    });
    const { queue_id } = await made({ method: 'POST', path: 'register', parameters: { narrow: [] } });
    const { id: field } = await made({
      method: 'POST',
      path: 'realm/profile_fields',
      parameters: { name: 'Nick', field_type: 1 },
    });
    const { group_id } = await made({
      method: 'POST',
      path: 'user_groups/create',
      parameters: { name: 'one', description: '', members: [] },
    });
    world = {
      owner: organisation.id('owner'),
      member: organisation.id('member'),
      channel: Number(stream_id),
      message: Number(message),
      queue: String(queue_id),
      field: Number(field),
      group: Number(group_id),
    };
  });

  describe.each([
    ['reads by', reading],
    ['writes by', writing],
    ['administers by', administering],
  ])('the public Python library %s', (_, rows) => {
    it.each(rows)('%s', async (_name, request, answer) => {
      const { status, body } = await ask(request(world));
      expect([status, body]).toEqual([
        200,
        expect.objectContaining({ result: 'success', msg: '', ...answer }),
      ]);
      expect(body.ignored_parameters_unsupported).toEqual(answer.ignored_parameters_unsupported);
    });
  });

  describe('the public Python library', () => {
    it('fetches the server’s settings without credentials', async () => {
      const request = { method: 'GET', path: 'server_settings' } as const;
      const { status, body } = await askAsPython(base, undefined, request);
      expect([status, body]).toEqual([200, expect.objectContaining({ zulip_version: expect.any(String) })]);
    });

    it('gets the error code that it expects for an expired queue', async () => {
      const parameters = { queue_id: world.queue, last_event_id: -1 };
      expect(await ask({ method: 'GET', path: 'events', parameters })).toMatchObject({
        status: 400,
        body: { code: 'BAD_EVENT_QUEUE_ID', queue_id: world.queue },
      });
    });

    it('gets a refusal when it registers a phone on a server without a relay', async () => {
      const { push_account_id, ...fields } = testPhone('77').fields;
      const parameters = { ...fields, push_account_id: Number(push_account_id) };
      expect(await ask({ method: 'POST', path: 'mobile_push/register', parameters })).toMatchObject({
        status: 400,
        body: { code: 'PUSH_SERVICE_NOT_CONFIGURED' },
      });
    });
  });
});

import { readFileSync } from 'node:fs';
import { roles, serverOperations } from '@waxwing/server';
import type { AnyOperation } from '@waxwing/service/http';
import { beforeAll, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import type { Account, Answer, ServerUnderTest } from '../server-under-test.js';

type Method = Parameters<ServerUnderTest['send']>[0]['method'];

const prefix = '/api/v1/';
const operations = serverOperations.filter(({ path }) => path.startsWith(prefix));

/** The operations in the contract, such as `PATCH /users/{}`. The operations that the server declares follow below. */
const inContract = [
  ...readFileSync('docs/chat-api.md', 'utf8').matchAll(/^(GET|POST|PATCH|DELETE) (\/\S*\w\}?)/gm),
].map(([, method, path = '']) => `${method} ${nameless(path)}`);
const ofContract = operations.filter(({ method, path }) =>
  inContract.includes(`${method} ${nameless(path).slice(prefix.length - 1)}`),
);

function nameless(path: string): string {
  return path.replace(/\{\w+\}/g, '{}');
}

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let made = 0;

  const somebody = (options: Parameters<ServerUnderTest['addAccount']>[1] = {}) => {
    made += 1;
    return organisation.server.addAccount(`asks${made}@example.com`, options);
  };

  /** The user that operations change and deactivate. Requests do not use this user's credentials. */
  let named: Account;
  beforeAll(async () => {
    named = await somebody();
  });

  /** Calls an operation with 1, or a user's ID, for each path parameter. */
  const ask = (
    who: Account | undefined,
    { method, path }: AnyOperation,
    fields: Record<string, string> = {},
  ): Promise<Answer> =>
    organisation.server.ask(
      who,
      method as Method,
      path
        .slice(prefix.length)
        .replace('{user_id_or_email}', String(named.userId))
        .replace(/\{\w+\}/g, '1'),
      fields,
    );

  function expectConvention({ status, headers, body }: Answer, asked: string): void {
    const isSuccess = status === 200;
    expect([asked, headers['content-type']]).toEqual([asked, expect.stringMatching(/^application\/json\b/)]);
    expect([asked, body.result]).toEqual([asked, isSuccess ? 'success' : 'error']);
    if (isSuccess) expect([asked, body.msg, body.code]).toEqual([asked, '', undefined]);
    else {
      expect([asked, body.msg]).toEqual([asked, expect.stringMatching(/./)]);
      expect([asked, body.code]).toEqual([asked, expect.stringMatching(/^[A-Z_]+$/)]);
    }
  }

  describe('every operation', () => {
    it('exists only under /api/v1 if it is in the contract', async () => {
      expect(inContract).toHaveLength(10);
      expect(ofContract).toHaveLength(10);
      for (const { method, path } of ofContract) {
        const authorization = organisation.accounts.owner.authorization;
        const url = path.slice(prefix.length - 1).replace(/\{\w+\}/g, '1');
        for (const wrong of [url, `/api/v2${url}`, `/api${url}`]) {
          const { status, body } = await organisation.server.send({
            method: method as Method,
            url: wrong,
            headers: { authorization },
          });
          expect([wrong, status, body.code]).toEqual([wrong, 404, 'NOT_FOUND']);
        }
      }
    });

    it('returns a JSON object with result, msg (empty on success) and, for an error, code', async () => {
      for (const declared of operations) {
        const asked = `${declared.method} ${declared.path}`;
        const owner = await somebody({ role: roles.owner });
        for (const who of [owner, await somebody({ isBot: true }), undefined]) {
          expectConvention(await ask(who, declared), asked);
        }
      }
      expectConvention(await organisation.ask('owner', 'GET', 'no/such/thing'), 'nothing');
      expectConvention(await organisation.ask('owner', 'DELETE', 'users'), 'another method');
    });

    it('lists unsupported parameters in ignored_parameters_unsupported, and omits this field if there are none', async () => {
      let successes = 0;
      for (const declared of operations.filter(({ actor }) => actor.authenticate !== undefined)) {
        const asked = `${declared.method} ${declared.path}`;
        const [one, other] = [await somebody({ role: roles.owner }), await somebody({ role: roles.owner })];
        const plain = await ask(one, declared);
        expect([asked, plain.body.ignored_parameters_unsupported]).toEqual([asked, undefined]);
        const { status, body } = await ask(other, declared, { zebra: '1', ant: 'x' });
        if (status !== 200) continue;
        successes += 1;
        expect([asked, body.ignored_parameters_unsupported]).toEqual([asked, ['ant', 'zebra']]);
      }
      expect(successes).toBeGreaterThan(5);
    });
  });

  describe('parameters', () => {
    it('are read from a URL-encoded form for POST, PATCH and DELETE, and from the query string for GET', async () => {
      const { queue_id } = await organisation.do('member', 'POST', 'register', { event_types: '["realm"]' });
      const { accounts, server } = organisation;
      const form = (method: Method, url: string, payload: string) =>
        server.send({
          method,
          url: prefix + url,
          payload,
          headers: {
            authorization: accounts.owner.authorization,
            'content-type': 'application/x-www-form-urlencoded',
          },
        });
      const name = 'full_name=Zo%C3%AB+%26+Ada';
      expect((await form('PATCH', 'users/second@example.com', name)).status).toBe(200);
      const playground = 'name=a+%2B+b&highlighter_language=C%2B%2B&url_template=https://x.example/{code}';
      const { body } = await form('POST', 'realm/playgrounds', playground);
      expect(body.id).toEqual(expect.any(Number));
      const { members } = await organisation.do('member', 'GET', 'users', {
        user_ids: [organisation.id('second')],
      });
      expect(members).toMatchObject([{ full_name: 'Zoë & Ada' }]);
      expect(await organisation.do('member', 'DELETE', 'events', { queue_id })).toEqual({
        result: 'success',
        msg: '',
      });
    });

    it.each([
      ['GET', 'users', 'user_ids', '[9]', '9,10'],
      ['PATCH', 'users/second@example.com', 'profile_data', '[]', 'id=1'],
      ['POST', 'realm/profile_fields', 'field_data', '{"a":{"text":"Ada","order":"1"}}', 'a=Ada'],
      ['POST', 'invites/multiuse', 'stream_ids', '[]', '1,2'],
      ['POST', 'invites/multiuse', 'group_ids', '[]', '1,2'],
    ] as const)('are JSON strings if they are lists or objects: %s %s %s', async (...row) => {
      const [method, path, name, json, other] = row;
      const rest = method === 'POST' ? { name: organisation.newName(), field_type: 3 } : {};
      expect((await organisation.ask('owner', method, path, { ...rest, [name]: json })).status).toBe(200);
      const wrong = await organisation.ask('owner', method, path, { ...rest, [name]: other });
      expect([wrong.status, wrong.body]).toEqual([
        400,
        { result: 'error', code: 'BAD_REQUEST', msg: expect.stringContaining(`Invalid ${name}`) },
      ]);
    });
  });

  describe('the client', () => {
    it('is authenticated only by HTTP Basic with the address and API key of a user or bot', async () => {
      const { member, bot, second } = organisation.accounts;
      const send = (headers: Record<string, string>, query = '') =>
        organisation.server.send({ method: 'GET', url: `/api/v1/users/me${query}`, headers });
      const basic = (user: string, password: string) => ({
        authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
      });
      for (const { email, apiKey, userId } of [member, bot]) {
        const { status, body } = await send(basic(email, apiKey));
        expect([status, body.user_id]).toEqual([200, userId]);
        for (const headers of [
          basic(email, second.apiKey),
          basic(second.email, apiKey),
          basic(String(userId), apiKey),
          basic(apiKey, email),
        ]) {
          const wrong = await send(headers);
          expect([wrong.status, wrong.body.code]).toEqual([401, 'INVALID_API_KEY']);
        }
        expect((await send({ authorization: `Bearer ${apiKey}` })).status).not.toBe(200);
        const query = `?${new URLSearchParams({ email, api_key: apiKey })}`;
        expect((await send({}, query)).body.code).toBe('UNAUTHORIZED');
      }
    });
  });
});

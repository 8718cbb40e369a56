import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addServer } from '#relay/servers/manage-servers.js';
import { eachBackend } from '../../../support/test-databases.js';
import { type DeliveriesUnderTest, startDeliveriesUnderTest } from '../deliveries/deliveries-under-test.js';
import { apnsElement, connectStockServer, fcmElement, type StockServer } from './stock-server.js';

// Checks the section "remotes/push/e2ee/register" in docs/protocol.md, sentence by sentence, with requests from newer
// servers.
const otherRealm = 'e502dde1-74fc-44b3-9e3a-114c41ed3ea4';
const now = () => Math.floor(Date.now() / 1000);
const invalid = { result: 'error', code: 'BAD_REQUEST', msg: 'Invalid encrypted_push_registration' };
const success = { result: 'success', msg: '' };

eachBackend((backend) => {
  let relay: DeliveriesUnderTest;
  let server: StockServer;
  let used = 0;
  const newToken = () => {
    used += 1;
    return `token ${used}`;
  };
  beforeAll(async () => {
    relay = await startDeliveriesUnderTest({ databaseUrl: await backend.freshUrl() });
    await addServer(relay.database, { name: 'other', realmUuids: [otherRealm] }, Date.now());
    server = await connectStockServer(relay);
  });
  afterAll(() => relay.close());

  /** Reads the row of a token. */
  const rowOf = (tokenId: string | undefined) =>
    relay.database.db
      .selectFrom('relay_devices')
      .selectAll()
      .where('push_account_id', '=', `token:${tokenId}`)
      .executeTakeFirst();

  describe('registering in the newer generation over HTTP', () => {
    it('returns only success, even for a repeated request', async () => {
      const form = server.form(newToken());
      for (const _repeat of [1, 2]) {
        const { status, headers, body } = await server.register(form);
        expect([status, body]).toEqual([200, success]);
        expect(headers.get('content-type')).toContain('application/json');
      }
    });

    it('checks errors in the documented order, with the documented status, code and message', async () => {
      const stale = { timestamp: now() - 86_401 };
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      const good = server.form(newToken(), stale);
      const bad = {
        realm_uuid: '00000000-0000-4000-8000-000000000000',
        bouncer_public_key: 'x',
        encrypted_push_registration: '@',
      };
      expect(await server.register({}, type)).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
      for (const name of ['realm_uuid', 'encrypted_push_registration', 'bouncer_public_key']) {
        const all: Record<string, string> = { ...good, ...bad };
        const { [name]: _missing, ...others } = all;
        const body = {
          result: 'error',
          code: 'REQUEST_VARIABLE_MISSING',
          msg: `Missing '${name}' argument`,
          var_name: name,
        };
        expect(await server.register(others)).toMatchObject({ status: 400, body });
      }
      const { token_id: _missing, ...unnamed } = good;
      expect(await server.register({ ...unnamed, ...bad })).toMatchObject({
        status: 400,
        body: { code: 'REQUEST_VARIABLE_MISSING', msg: "Missing 'token_id' argument", var_name: 'token_id' },
      });
      const steps: [Record<string, string>, number, object][] = [
        [bad, 403, { code: 'MISSING_REMOTE_REALM', msg: 'Organization not registered' }],
        [
          { ...bad, realm_uuid: otherRealm },
          403,
          {
            code: 'REMOTE_REALM_SERVER_MISMATCH_ERROR',
            msg: expect.stringMatching(/^Your organization is registered to a different/),
          },
        ],
        [
          { ...bad, realm_uuid: good.realm_uuid ?? '' },
          400,
          { code: 'INVALID_BOUNCER_PUBLIC_KEY', msg: 'Invalid bouncer_public_key' },
        ],
        [{ encrypted_push_registration: '@' }, 400, invalid],
        [{ token_id: '192057' }, 400, invalid],
        [{}, 400, { code: 'REQUEST_EXPIRED', msg: 'Request expired' }],
      ];
      for (const [changes, status, body] of steps) {
        const answer = await server.register({ ...good, ...changes });
        expect(answer).toMatchObject({ status, body: { result: 'error', ...body } });
      }
      expect(await rowOf(good.token_id)).toBeUndefined();
    });

    it.each([
      ['an integer', () => now()],
      ['a day old', () => now() - 86_390],
      ['ahead by less than a day', () => now() + 86_000],
      ['an integral float', () => `${now()}.0`],
      ['with an exponent', () => `${now() / 10}e1`],
      ['a decimal string', () => `"${now()}"`],
      ['a string with whitespace', () => `" ${now()}\\n"`],
      ['a string of an integral float', () => `"${now()}.0"`],
    ])('accepts a timestamp that is %s', async (_case, timestamp) => {
      const token = newToken();
      const plaintext = `{"token_kind":"fcm","token":"${token}","timestamp":${timestamp()}}`;
      const form = server.form(token, {}, { encrypted_push_registration: server.sealText(plaintext) });
      expect((await server.register(form)).body).toEqual(success);
    });

    it.each(['true', '-1', '0', '"0"'])('treats the timestamp %s as expired', async (timestamp) => {
      const token = newToken();
      const plaintext = `{"token_kind":"fcm","token":"${token}","timestamp":${timestamp}}`;
      const form = server.form(token, {}, { encrypted_push_registration: server.sealText(plaintext) });
      expect((await server.register(form)).body.code).toBe('REQUEST_EXPIRED');
    });

    it('accepts unknown and repeated fields, null, and whitespace in a registration', async () => {
      const token = newToken();
      const texts = [
        `{"ios_app_id":null,"timestamp":${now()},"token":"${token}","token_kind":"fcm","new":{"a":[1]}}`,
        `\n {"token_kind":"apns","token":"other","token":"${token}","timestamp":1,"timestamp":${now()},"token_kind":"fcm"}   `,
      ];
      for (const text of texts) {
        const sealed = server.sealText(text);
        const broken = `${sealed.slice(0, 76)}\r\n${sealed.slice(76)}\n`;
        const form = server.form(token, {}, { encrypted_push_registration: broken });
        expect((await server.register(form)).body).toEqual(success);
      }
    });

    it.each<[string, (token: string) => string]>([
      ['not JSON', () => 'token'],
      ['an array', (token) => JSON.stringify([{ token_kind: 'fcm', token, timestamp: now() }])],
      ['without a timestamp', (token) => JSON.stringify({ token_kind: 'fcm', token })],
      ['with a fractional timestamp', (token) => `{"token_kind":"fcm","token":"${token}","timestamp":1.5}`],
      ['with the timestamp null', (token) => `{"token_kind":"fcm","token":"${token}","timestamp":null}`],
      ['of an unknown kind', (token) => JSON.stringify({ token_kind: 'FCM', token, timestamp: now() })],
      ['with a number as the token', () => JSON.stringify({ token_kind: 'fcm', token: 7, timestamp: now() })],
      [
        'for Google with a bundle id',
        (token) => JSON.stringify({ token_kind: 'fcm', token, timestamp: now(), ios_app_id: 'a' }),
      ],
      [
        'for Apple without a bundle id',
        () => JSON.stringify({ token_kind: 'apns', token: 'c0ffee', timestamp: now() }),
      ],
      [
        'for Apple with an invalid bundle id',
        () => JSON.stringify({ token_kind: 'apns', token: 'c0ffee', timestamp: now(), ios_app_id: '* -- +' }),
      ],
      [
        'for Apple with a token that is not hexadecimal',
        () => JSON.stringify({ token_kind: 'apns', token: 'xyz', timestamp: now(), ios_app_id: 'a.b' }),
      ],
    ])('refuses a registration that is %s', async (_case, plaintextOf) => {
      const plaintext = plaintextOf('a token');
      const token = /"token":"?([^",}]*)/.exec(plaintext)?.[1] ?? '';
      const form = server.form(token, {}, { encrypted_push_registration: server.sealText(plaintext) });
      expect(await server.register(form)).toMatchObject({ status: 400, body: invalid });
      expect(await rowOf(form.token_id)).toBeUndefined();
    });

    it.each(['abcde', 'A', 'AA', '', 'AAAA', '-_-_', '@abcdefg'])(
      'refuses the sealed registration %j with the same message',
      async (encrypted_push_registration) => {
        const form = server.form(newToken(), {}, { encrypted_push_registration });
        expect(await server.register(form)).toMatchObject({ status: 400, body: invalid });
      },
    );

    it('refuses a non-canonical token id with unused bits set', async () => {
      const form = server.form('c0ffee', { token_kind: 'apns', ios_app_id: 'org.example.App' });
      expect(form.token_id).toBe('+wKIhyAx/Eg=');
      expect(await server.register({ ...form, token_id: '+wKIhyAx/Eh=' })).toMatchObject({
        status: 400,
        body: invalid,
      });
    });

    it('treats an Apple token in upper and lower case as two tokens, and stores each as sent', async () => {
      const apple = { token_kind: 'apns', ios_app_id: 'org.example.App' };
      expect(server.form('c0ffee').token_id).toBe('+wKIhyAx/Eg=');
      expect(server.form('C0FFEE').token_id).toBe('jS5/TZMf7/8=');
      for (const token of ['c0ffee', 'C0FFEE']) {
        expect((await server.register(server.form(token, apple))).body).toEqual(success);
        const crossed = server.form(token, apple, { token_id: server.form(swapCase(token)).token_id ?? '' });
        expect(await server.register(crossed)).toMatchObject({ status: 400, body: invalid });
      }
      // Apple treats both spellings as one token, so both devices reach the same phone.
      for (const [index, id] of ['+wKIhyAx/Eg=', 'jS5/TZMf7/8='].entries()) {
        expect((await server.notify([apnsElement(id)])).body.apple_successfully_sent_count).toBe(1);
        expect(await relay.arrived('c0ffee')).toHaveLength(index + 1);
      }
    });

    it('revives an expired device with its new bundle id', async () => {
      const token = 'dead0001';
      const apple = (ios_app_id: string) => server.form(token, { token_kind: 'apns', ios_app_id });
      const { token_id = '' } = apple('org.example.One');
      await server.register(apple('org.example.One'));
      const timestamp = Date.now() + 1000;
      await relay.faults([{ vendor: 'apns', token, status: 410, timestamp }]);
      expect((await server.notify([apnsElement(token_id)])).body.delete_token_ids).toEqual([token_id]);
      await relay.faults([]);
      expect((await server.notify([apnsElement(token_id)])).body.delete_token_ids).toEqual([token_id]);
      expect((await server.register(apple('org.example.Two'))).body).toEqual(success);
      const { body } = await server.notify([apnsElement(token_id)]);
      expect([body.delete_token_ids, body.apple_successfully_sent_count]).toEqual([[], 1]);
      const [delivery, ...others] = await relay.arrived(token);
      expect(others).toEqual([]);
      expect(delivery?.headers['apns-topic']).toBe('org.example.Two');
    });

    it('ignores sequences, because each user of a phone counts separately', async () => {
      const token = newToken();
      for (const sequence of [Date.now(), 5, 4]) {
        expect((await server.register(server.form(token, { sequence }))).body).toEqual(success);
      }
      const { token_id = '' } = server.form(token);
      const { body } = await server.notify([fcmElement(token_id)]);
      expect(body.android_successfully_sent_count).toBe(1);
    });
  });
});

function swapCase(token: string): string {
  return token === token.toLowerCase() ? token.toUpperCase() : token.toLowerCase();
}

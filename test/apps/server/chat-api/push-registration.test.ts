import { encodeBase64, errorCodes, parseJson } from '@waxwing/protocol';
import { loadWasmSodium } from '@waxwing/sodium';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSealed } from '../../../support/noble-oracle.js';
import { notified, registered } from '../../../support/relay-stand-in.js';
import { eachBackend } from '../../../support/test-databases.js';
import { type Account, ServerUnderTest, testPhone } from '../server-under-test.js';

const accountId = '9223372036854775807';
const sodium = await loadWasmSodium();

eachBackend((backend) => {
  let databaseUrl: string;
  let test: ServerUnderTest;
  let ada: Account;
  beforeEach(async () => {
    databaseUrl = await backend.freshUrl();
    test = await ServerUnderTest.start({ databaseUrl });
    ada = await test.addAccount('ada@example.com');
  });
  afterEach(() => test.close());

  async function refused(fields: Record<string, string>): Promise<Record<string, unknown>> {
    const { status, body } = await test.register(ada, fields);
    await test.settle();
    expect([status, test.relay.requests, await test.pushDevices(ada)]).toEqual([400, [], {}]);
    return body;
  }

  describe('POST /mobile_push/register', () => {
    it.each(['fcm', 'apns'])(
      'accepts a registration with the token_kind %s, and returns success',
      async (kind) => {
        test.relay.otherwise(registered(7));
        const answer = await test.register(ada, testPhone(accountId, { token_kind: kind }).fields);
        expect([answer.status, answer.body]).toEqual([200, { result: 'success', msg: '' }]);
        await test.settle();
        expect(await test.pushDevices(ada)).toEqual({ [accountId]: { status: 'active', error_code: null } });
      },
    );

    it('forwards the encrypted registration unchanged, with the public key of the relay', async () => {
      const relayKeys = sodium.generateKeyPair();
      const registration = {
        token: 'ab'.repeat(32),
        token_kind: 'apns',
        timestamp: 1_773_230_400,
        ios_app_id: 'com.example.chat',
      };
      const text = new TextEncoder().encode(JSON.stringify(registration));
      const { fields } = testPhone(accountId, {
        token_kind: 'apns',
        bouncer_public_key: encodeBase64(relayKeys.publicKey),
        encrypted_push_registration: encodeBase64(sodium.seal(text, relayKeys.publicKey)),
      });
      test.relay.otherwise(registered(7));
      expect((await test.register(ada, fields)).status).toBe(200);
      await test.settle();
      const sent = new URLSearchParams(test.relay.requests[0]?.body);
      expect(sent.get('bouncer_public_key')).toBe(fields.bouncer_public_key);
      const sealed = Buffer.from(sent.get('encrypted_push_registration') ?? '', 'base64');
      const opened = openSealed(sealed, relayKeys.publicKey, relayKeys.privateKey);
      expect(JSON.parse(Buffer.from(opened ?? []).toString())).toEqual(registration);
    });

    it('encrypts pushes with push_public_key, and includes push_account_id', async () => {
      const phone = testPhone(accountId);
      test.relay.next(registered(7));
      await test.register(ada, phone.fields);
      await test.settle();
      test.relay.otherwise(notified());
      await test.ask(ada, 'POST', 'mobile_push/e2ee/test_notification');
      const { push_requests: sent } = parseJson(test.relay.requests.at(-1)?.body ?? '') as unknown as {
        push_requests: { payload: { push_account_id: unknown; encrypted_data: string } }[];
      };
      expect(sent.map(({ payload }) => payload.push_account_id)).toEqual([BigInt(accountId)]);
      const sealed = Buffer.from(sent[0]?.payload.encrypted_data ?? '', 'base64');
      const opened = openSealed(sealed, phone.publicKey, phone.privateKey);
      expect(JSON.parse(Buffer.from(opened ?? []).toString())).toMatchObject({ type: 'test' });
    });

    it('accepts one registration per user and push_account_id, and the same id for another user', async () => {
      const bob = await test.addAccount('bob@example.com');
      test.relay.otherwise(registered(7));
      for (const account of [ada, ada, bob]) {
        expect((await test.register(account, testPhone('1').fields)).status).toBe(200);
        await test.settle();
      }
      const active = { '1': { status: 'active', error_code: null } };
      expect([await test.pushDevices(ada), await test.pushDevices(bob)]).toEqual([active, active]);
    });

    it.each(Object.keys(testPhone('1').fields))('requires %s', async (name) => {
      const { [name]: _, ...fields } = testPhone('1').fields;
      expect(await refused(fields)).toMatchObject({ code: 'REQUEST_VARIABLE_MISSING', var_name: name });
    });

    it.each([
      ['token_kind', ['', 'gcm', 'FCM', 'fcm ']],
      ['push_account_id', ['', 'x', '1.5', '1e3', '"1"', '9223372036854775808']],
      ['push_public_key', ['', 'x', `${'-'.repeat(43)}=`, encodeBase64(new Uint8Array(31).fill(7))]],
      ['bouncer_public_key', ['', 'x', `${'_'.repeat(43)}=`, encodeBase64(new Uint8Array(33).fill(7))]],
      ['encrypted_push_registration', ['', 'x', `${'-_'.repeat(60)}`, encodeBase64(new Uint8Array(48))]],
    ] as const)('refuses a malformed %s and names the parameter', async (name, values) => {
      for (const value of values) {
        expect(await refused({ ...testPhone('1').fields, [name]: value })).toEqual({
          result: 'error',
          code: 'BAD_REQUEST',
          msg: expect.stringContaining(`Invalid ${name}: `),
        });
      }
    });

    it('returns PUSH_SERVICE_NOT_CONFIGURED if no push service is configured', async () => {
      await test.close();
      test = await ServerUnderTest.start({ databaseUrl, withoutRelay: true });
      expect(await refused(testPhone('1').fields)).toEqual({
        result: 'error',
        code: 'PUSH_SERVICE_NOT_CONFIGURED',
        msg: errorCodes.PUSH_SERVICE_NOT_CONFIGURED.message,
      });
    });
  });
});

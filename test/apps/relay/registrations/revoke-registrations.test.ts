import { relayRevokePath } from '@waxwing/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { revocationsPerMinuteAndAddress } from '#relay/registrations/operations/revoke-registrations.js';
import { computeTokenId } from '#relay/registrations/store/addressee.js';
import { forgetRevocations } from '#relay/registrations/store/revocations.js';
import { registrationVectors } from '../../../support/protocol-vectors.js';
import { eachBackend } from '../../../support/test-databases.js';
import { type Answer, basic, otherRealmUuid, realmUuid, startRelayUnderTest } from '../relay-under-test.js';
import {
  accountForm,
  bouncer_public_key,
  ofAccount,
  type RevocationFields,
  revocation,
} from './revocation-form.js';
import { sealText, tokenForm } from './token-form.js';

const { now: seconds } = registrationVectors();
const success = { result: 'success', msg: '' };
const invalid = { result: 'error', code: 'BAD_REQUEST', msg: 'Invalid encrypted_push_revocation' };
const expired = { result: 'error', code: 'REQUEST_EXPIRED' };
const day = 86_400;

eachBackend((backend) => {
  describe('a revocation', () => {
    let relay: Awaited<ReturnType<typeof startRelayUnderTest>>;
    let address = 0;
    beforeAll(async () => {
      relay = await startRelayUnderTest(await backend.freshUrl(), { RELAY_TRUSTED_PROXIES: '127.0.0.1' });
    });
    afterAll(() => relay.close());
    beforeEach(async () => {
      relay.time.now = seconds * 1000;
      address += 1;
      for (const table of ['relay_devices', 'revocations', 'registration_sequences'] as const) {
        await relay.database.db.deleteFrom(table).execute();
      }
      await relay.database.db.deleteFrom('presented_registrations').execute();
    });

    async function post(url: string, headers: Record<string, string>, payload: string): Promise<Answer> {
      const answer = await relay.app.inject({ method: 'POST', url, headers, payload });
      return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
    }
    /** Sends a revocation as a phone would. */
    const revoke = (form: Record<string, string>, headers: Record<string, string> = {}) =>
      post(
        relayRevokePath,
        {
          'x-forwarded-for': `192.0.2.${address}`,
          'content-type': 'application/x-www-form-urlencoded',
          ...headers,
        },
        new URLSearchParams(form).toString(),
      );
    const forget = () => relay.database.write(({ db }) => forgetRevocations(db, relay.time.now, 10));
    const left = async () => (await relay.devices()).map((row) => row.push_account_id);
    const named = (token: string) => `token:${computeTokenId(token)}`;

    it('ends only the registration of its token, in the newer generation', async () => {
      for (const token of ['one', 'two']) await relay.register(tokenForm({ token }));
      await relay.register(accountForm('1', { token: 'one' }));
      expect((await revoke(revocation({ revoked_token: 'one' }))).body).toEqual(success);
      expect(await left()).toEqual([named('two'), '1']);
    });

    it('ends only the registration of its account and token, in the older generation', async () => {
      const account = '9223372036854775807';
      for (const token of ['one', 'two']) await relay.register(accountForm(account, { token }));
      await relay.register(accountForm('1', { token: 'one' }));
      await relay.register(tokenForm({ token: 'one' }));
      expect((await revoke(ofAccount(account, { revoked_token: 'one' }))).body).toEqual(success);
      const rows = await relay.devices();
      expect(rows.map((row) => row.push_account_id)).toEqual([account, '1', named('one')]);
      // A revocation that names both the token and the account ends both registrations.
      const both = revocation({ revoked_token: 'one', push_account_id: '1' });
      expect((await revoke(both)).body).toEqual(success);
      expect(await left()).toEqual([account]);
    });

    it('is reported to the server with the next notification', async () => {
      const { token_id = '' } = tokenForm();
      await relay.register(tokenForm());
      const { body: registered } = await relay.register(accountForm('5'));
      await revoke(revocation({ push_account_id: '5' }));
      const notify = async (request: object) => {
        const headers = { authorization: relay.authorization, 'content-type': 'application/json' };
        const fcm = { fcm_priority: 'high', payload: { encrypted_data: 'AAAA', ...request } };
        const push_requests = [{ ...fcm, ...request }];
        const body = JSON.stringify({ realm_uuid: realmUuid, push_requests });
        return (await post('/api/v1/remotes/push/e2ee/notify', headers, body)).body;
      };
      expect(await notify({ token_id, payload: { push_key_id: 1, encrypted_data: 'AAAA' } })).toMatchObject({
        delete_token_ids: [token_id],
      });
      const { device_id } = registered;
      expect(
        await notify({ device_id, payload: { push_account_id: 5, encrypted_data: 'AAAA' } }),
      ).toMatchObject({ delete_device_ids: [device_id] });
    });

    it.each([Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, -1, 0])(
      'dated %d does not affect registrations of other phones',
      async (timestamp) => {
        await revoke(revocation({ revoked_token: 'one', timestamp }));
        const answers = await Promise.all(
          ['one', 'two', 'three'].map((token) => relay.register(tokenForm({ token }))),
        );
        const [own, ...others] = answers.map(({ status }) => status);
        expect([own === 500, others]).toEqual([false, [200, 200]]);
      },
    );

    it('needs no credentials, is accepted from any server, and is refused with wrong credentials', async () => {
      for (const authorization of [undefined, relay.authorization, relay.otherAuthorization]) {
        await relay.register(tokenForm());
        const headers = authorization === undefined ? undefined : { authorization };
        expect((await revoke(revocation(), headers)).body).toEqual(success);
        expect(await left()).toEqual([]);
        await relay.database.db.deleteFrom('revocations').execute();
      }
      await relay.register(tokenForm());
      const authorization = basic(relay.server.serverId, 'wrong');
      expect(await revoke(revocation(), { authorization })).toMatchObject({ status: 401 });
      expect(await left()).toHaveLength(1);
    });

    it('has the same response and stores the same amount, whether or not the registration exists', async () => {
      await relay.register(tokenForm({ token: 'known' }));
      const answers = [];
      for (const form of [
        revocation({ revoked_token: 'known' }),
        revocation({ revoked_token: 'unknown' }),
        revocation({ realm_uuid: otherRealmUuid }),
        revocation({ realm_uuid: '00000000-0000-4000-8000-000000000000' }),
        ofAccount('77'),
      ]) {
        const { status, body } = await revoke(form);
        answers.push({ status, body });
      }
      expect(answers).toEqual(answers.map(() => ({ status: 200, body: success })));
      const stored = await relay.database.db.selectFrom('revocations').selectAll().execute();
      expect(stored).toHaveLength(answers.length);
      expect(JSON.stringify(stored)).not.toMatch(/known|token|9aa61d0b/);
    });

    it('is checked in the documented order, with the documented status, code and message', async () => {
      await relay.register(tokenForm());
      const missing = { result: 'error', code: 'REQUEST_VARIABLE_MISSING' };
      expect(await revoke({ bouncer_public_key: 'x' })).toMatchObject({ status: 400, body: missing });
      expect(await revoke({ encrypted_push_revocation: '@' })).toMatchObject({ status: 400, body: missing });
      expect(await revoke({ bouncer_public_key: 'x', encrypted_push_revocation: '@' })).toMatchObject({
        status: 400,
        body: { code: 'INVALID_BOUNCER_PUBLIC_KEY' },
      });
      const sealed = (fields: RevocationFields) => revocation(fields).encrypted_push_revocation ?? '';
      const bad = [
        ...['@', '', sealText('no JSON'), sealText('[]'), sealText('{}')],
        sealed({ timestamp: undefined }),
        sealed({ timestamp: '1' }),
        sealed({ timestamp: 1.5 }),
        sealed({ realm_uuid: 'x' }),
        sealed({ token_id: undefined }),
        sealed({ token_id: 'AAAAAAAAAAE=' }),
        sealed({ token_id: 'x' }),
        sealed({ push_account_id: 'x' }),
        sealed({ revoked_token: '' }),
        sealed({ revoked_token: 'x'.repeat(8193) }),
        tokenForm().encrypted_push_registration ?? '',
      ];
      for (const encrypted_push_revocation of bad) {
        const { status, body } = await revoke({ bouncer_public_key, encrypted_push_revocation });
        expect([status, body]).toEqual([400, invalid]);
      }
      expect(await left()).toHaveLength(1);
    });

    it('is not accepted as a registration', async () => {
      const { encrypted_push_revocation = '' } = revocation();
      const form = tokenForm({}, { encrypted_push_registration: encrypted_push_revocation });
      expect(await relay.register(form)).toMatchObject({
        body: { msg: 'Invalid encrypted_push_registration' },
      });
    });

    it('prevents replays of the revoked registration by any server, in either generation', async () => {
      const forms = [tokenForm(), accountForm('5')];
      for (const form of forms) await relay.register(form);
      await revoke(revocation({ push_account_id: '5' }));
      for (const form of forms) expect((await relay.register(form)).body).toMatchObject(expired);
      expect(await left()).toEqual([]);
      // Advances to the end of the registrations' lifetime, just before the revocation is deleted.
      relay.time.now += day * 1000;
      await forget();
      for (const form of forms) expect((await relay.register(form)).body).toMatchObject(expired);
      expect(await left()).toEqual([]);
    });

    it('does not affect later registrations, even if it is replayed', async () => {
      const form = revocation({ push_account_id: '5' });
      await revoke(form);
      const later = { timestamp: seconds + 1 };
      expect((await relay.register(tokenForm(later))).body).toEqual(success);
      expect((await relay.register(accountForm('5', later))).body).toMatchObject(success);
      await revoke(form);
      await revoke(revocation({ push_account_id: '5', timestamp: seconds - day }));
      expect(await left()).toEqual([named('a token'), '5']);
    });

    it('ends a registration from a clock more than five minutes ahead, but not from a clock less ahead', async () => {
      for (const [token, ahead] of [
        ['a day', day],
        ['five minutes', 300],
        ['more', 301],
      ] as const) {
        await relay.register(tokenForm({ token, timestamp: seconds + ahead }));
        await relay.register(accountForm('1', { token, timestamp: seconds + ahead }));
        await revoke(revocation({ revoked_token: token, push_account_id: '1' }));
      }
      expect(await left()).toEqual([named('five minutes'), '1']);
    });

    it('from the far future is treated as a revocation from a day ahead', async () => {
      await revoke(revocation({ timestamp: 2 ** 52 }));
      expect((await relay.register(tokenForm({ timestamp: seconds + day }))).body).toMatchObject(expired);
      relay.time.now += 2000;
      expect((await relay.register(tokenForm({ timestamp: seconds + day + 1 }))).body).toEqual(success);
    });

    it('ends registrations that an older relay stored without dates', async () => {
      await relay.register(tokenForm());
      await relay.database.db.updateTable('relay_devices').set({ dated_at: null }).execute();
      await revoke(revocation());
      expect(await left()).toEqual([]);
    });

    it('is rate-limited per address, or by the quota of the server', async () => {
      const form = revocation();
      for (let sent = 0; sent < revocationsPerMinuteAndAddress; sent += 1) await revoke(form);
      expect(await revoke(form)).toMatchObject({ status: 503, body: { code: 'RATE_LIMIT_HIT' } });
      const { authorization } = relay;
      expect((await revoke(form, { authorization })).body).toEqual(success);
      address += 1;
      expect((await revoke(form)).body).toEqual(success);
    });

    it('is deleted when all registrations that it revokes have expired', async () => {
      await revoke(revocation());
      const stored = () => relay.database.db.selectFrom('revocations').selectAll().execute();
      relay.time.now += (day + 1) * 1000 - 1;
      expect(await forget()).toBe(0);
      relay.time.now += 1;
      expect(await forget()).toBe(1);
      expect(await stored()).toEqual([]);
    });
  });
});

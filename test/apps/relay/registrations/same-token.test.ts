import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addRealms } from '#relay/servers/manage-servers.js';
import { seal } from '../../../support/noble-oracle.js';
import { registrationVectors } from '../../../support/protocol-vectors.js';
import { eachBackend } from '../../../support/test-databases.js';
import { goodForm, type RelayUnderTest, realmUuid, startRelayUnderTest } from '../relay-under-test.js';

const secondRealmUuid = '11111111-2222-4333-8444-555555555555';
const { keys, now } = registrationVectors();
const fcm = (token: string) => ({ token_kind: 'fcm', token });
const apns = (token: string) => ({ token_kind: 'apns', token, ios_app_id: 'com.example.chat' });

/** Returns a registration form for an account. `all` lists the accounts of the same user. */
function form(account: string, target: object, all?: readonly string[]): Record<string, string> {
  const publicKey = keys[0]?.public_key ?? '';
  const plaintext = JSON.stringify({ ...target, timestamp: now, nonce: account });
  const ephemeral = crypto.getRandomValues(new Uint8Array(32));
  const box = seal(new TextEncoder().encode(plaintext), Buffer.from(publicKey, 'base64'), ephemeral);
  return goodForm({
    push_account_id: account,
    bouncer_public_key: publicKey,
    encrypted_push_registration: Buffer.from(box).toString('base64'),
    ...(all === undefined ? {} : { accounts_of_user: `[${all.join()}]` }),
  });
}

eachBackend((backend) => {
  describe('the list of accounts with the same token', () => {
    let relay: RelayUnderTest;
    beforeEach(async () => {
      relay = await startRelayUnderTest(await backend.freshUrl());
    });
    afterEach(() => relay.close());

    /** Registers, and returns the accounts with the same token. */
    const register = async (given: Record<string, string>) => {
      const { status, body } = await relay.register(given);
      expect(status).toBe(200);
      return body.same_token_push_account_ids;
    };

    it('contains only requested accounts that have the same token', async () => {
      await register(form('1', fcm('one')));
      await register(form('2', fcm('one')));
      await register(form('3', fcm('two')));
      expect(await register(form('4', fcm('one'), ['1', '3', '5', '4']))).toEqual([1]);
      expect(await register(form('4', fcm('one'), ['3', '5']))).toBeUndefined();
      expect(await register(form('4', fcm('one'), []))).toBeUndefined();
      expect(await register(form('4', fcm('one')))).toBeUndefined();
    });

    it('compares Apple tokens case-insensitively, and Google tokens exactly', async () => {
      await register(form('1', apns('c0ffee00')));
      await register(form('2', apns('C0FFEE00')));
      expect(await register(form('3', apns('C0FFEE00'), ['1', '2']))).toEqual([1, 2]);
      expect(await register(form('4', apns('c0ff ee00'), ['1', '2']))).toEqual([1, 2]);
      await register(form('5', fcm('token')));
      expect(await register(form('6', fcm('Token'), ['5']))).toBeUndefined();
    });

    it('ignores accounts in other realms', async () => {
      await addRealms(relay.database, relay.server.serverId, [secondRealmUuid], relay.time.now);
      await register({ ...form('1', fcm('one')), realm_uuid: secondRealmUuid });
      expect(await register(form('2', fcm('one'), ['1']))).toBeUndefined();
    });

    it('includes accounts from the same batch', async () => {
      const registrations = ['1', '2', '3'].map((account) => {
        const others = account === '3' ? {} : { accounts_of_user: [1, 2] };
        return { ...form(account, fcm('one')), push_account_id: Number(account), ...others };
      });
      const answer = await relay.app.inject({
        method: 'POST',
        url: '/api/v1/remotes/push/e2ee/register_many',
        headers: { authorization: relay.authorization, 'content-type': 'application/json' },
        payload: JSON.stringify({ realm_uuid: realmUuid, registrations }),
      });
      const results = answer.json().results as Record<string, unknown>[];
      expect(results.map((result) => result.same_token_push_account_ids)).toEqual([[2], [1], undefined]);
    });

    it('cannot be requested for more than a hundred accounts, or for values that are not integers', async () => {
      const many = Array.from({ length: 100 }, (_, index) => String(index));
      await register(form('200', fcm('one'), many));
      for (const all of [[...many, '100'], ['"x"'], ['1.5']]) {
        expect(await relay.register(form('200', fcm('one'), all))).toMatchObject({
          status: 400,
          body: { msg: 'Invalid accounts_of_user: must be a JSON array of at most 100 integers of 64 bits' },
        });
      }
    });
  });
});

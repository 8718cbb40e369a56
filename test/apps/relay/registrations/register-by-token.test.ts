import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { computeTokenId } from '#relay/registrations/store/addressee.js';
import { addRealms } from '#relay/servers/manage-servers.js';
import { registrationVectors, relayProtocolVectors } from '../../../support/protocol-vectors.js';
import { eachBackend } from '../../../support/test-databases.js';
import {
  goodForm,
  otherRealmUuid,
  type RelayUnderTest,
  realmUuid,
  startRelayUnderTest,
} from '../relay-under-test.js';
import { tokenForm as form } from './token-form.js';

// Checks the section "remotes/push/e2ee/register" in docs/protocol.md for the newer generation.

const { now } = registrationVectors();
const day = 86_400;
const invalid = {
  status: 400,
  body: { result: 'error', code: 'BAD_REQUEST', msg: 'Invalid encrypted_push_registration' },
};

it('token ids match the vectors', () => {
  const { registrations, token_ids } = relayProtocolVectors();
  expect(token_ids.length).toBeGreaterThan(5);
  for (const { token, token_id } of [...registrations, ...token_ids]) {
    expect(computeTokenId(token)).toBe(token_id);
  }
});

eachBackend((backend) => {
  let relay: RelayUnderTest;
  beforeEach(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl());
  });
  afterEach(() => relay.close());

  describe('a registration by token', () => {
    it('is stored for each vector, and the response has no device id', async () => {
      const { registrations, bouncer_public_key } = relayProtocolVectors();
      for (const { sealed, token_id, token, kind } of registrations) {
        relay.time.now = JSON.parse(registrations[0]?.plaintext ?? '').timestamp * 1000;
        const { status, body } = await relay.register({
          realm_uuid: realmUuid,
          token_id,
          encrypted_push_registration: sealed,
          bouncer_public_key,
        });
        expect([status, body]).toEqual([200, { result: 'success', msg: '' }]);
        const row = (await relay.devices()).at(-1);
        expect(row).toMatchObject({ push_account_id: `token:${token_id}`, token_kind: kind });
        expect(JSON.stringify(row)).not.toContain(token);
      }
    });

    it('keeps its row when it is repeated, revives the device, and updates its fields', async () => {
      const token = 'c0ffee';
      const apns = { token, token_kind: 'apns', ios_app_id: 'org.example.One' };
      await relay.register(form(apns));
      const [before] = await relay.devices();
      await relay.database.db.updateTable('relay_devices').set({ expired_at: 1 }).execute();
      await relay.register(form({ ...apns, ios_app_id: 'org.example.Two' }));
      const rows = await relay.devices();
      expect(rows).toMatchObject([{ id: before?.id, expired_at: null, ios_app_id: 'org.example.Two' }]);
    });

    it('has one row per realm, in addition to the row of the older generation', async () => {
      const second = '11111111-2222-4333-8444-555555555555';
      await addRealms(relay.database, relay.server.serverId, [second], relay.time.now);
      for (const realm_uuid of [realmUuid, second]) {
        expect((await relay.register(form({}, { realm_uuid }))).status).toBe(200);
      }
      const { token_id: _, ...older } = form();
      const { body } = await relay.register({ ...older, push_account_id: '2408' });
      const rows = await relay.devices();
      expect(rows.map(({ push_account_id }) => push_account_id)).toEqual([
        `token:${computeTokenId('a token')}`,
        `token:${computeTokenId('a token')}`,
        '2408',
      ]);
      expect(body.device_id).toBe(rows[2]?.id);
    });

    it.each([
      ['of another token', { token_id: computeTokenId('another token') as string }],
      ['that is too short', { token_id: '192057' }],
      ['that is empty', { token_id: '' }],
      ['of the token in upper case', { token_id: computeTokenId('A TOKEN') as string }],
    ])('is refused with a token id %s', async (_case, changes) => {
      expect(await relay.register(form({}, changes))).toMatchObject(invalid);
      expect(await relay.devices()).toEqual([]);
    });

    it('is refused if it was sealed for an account or another realm', async () => {
      expect(await relay.register(form({ push_account_id: 2408 }))).toMatchObject(invalid);
      expect(await relay.register(form({ audience: otherRealmUuid }))).toMatchObject(invalid);
    });

    it('is refused for another realm with the same sealed bytes', async () => {
      const second = '11111111-2222-4333-8444-555555555555';
      await addRealms(relay.database, relay.server.serverId, [second], relay.time.now);
      const sealed = form();
      expect((await relay.register(sealed)).status).toBe(200);
      expect((await relay.register(sealed)).status).toBe(200);
      expect(await relay.register({ ...sealed, realm_uuid: second })).toMatchObject(invalid);
    });

    it('is accepted if it is exactly a day old, and refused a second later', async () => {
      expect((await relay.register(form({ timestamp: now - day }))).status).toBe(200);
      expect(await relay.register(form({ timestamp: now - day - 1 }))).toMatchObject({
        status: 400,
        body: { code: 'REQUEST_EXPIRED', msg: 'Request expired' },
      });
    });

    it('is checked in the same order as by stock relays', async () => {
      const wrong: [Record<string, string | undefined>, number, string][] = [
        [{ token_id: undefined, realm_uuid: otherRealmUuid }, 400, 'REQUEST_VARIABLE_MISSING'],
        [
          { realm_uuid: '00000000-0000-4000-8000-000000000000', bouncer_public_key: 'x' },
          403,
          'MISSING_REMOTE_REALM',
        ],
        [{ realm_uuid: otherRealmUuid, bouncer_public_key: 'x' }, 403, 'REMOTE_REALM_SERVER_MISMATCH_ERROR'],
        [{ bouncer_public_key: 'x', encrypted_push_registration: '?' }, 400, 'INVALID_BOUNCER_PUBLIC_KEY'],
        [{ encrypted_push_registration: 'abcde' }, 400, 'BAD_REQUEST'],
      ];
      for (const [changes, status, code] of wrong) {
        const all = Object.entries({ ...form(), ...changes }).filter(([, value]) => value !== undefined);
        const answer = await relay.register(Object.fromEntries(all) as Record<string, string>);
        expect([answer.status, answer.body.code]).toEqual([status, code]);
      }
      expect(await relay.devices()).toEqual([]);
    });

    it('takes precedence over a push account in the same request', async () => {
      const both = goodForm({ ...form(), push_account_id: '2408' });
      expect((await relay.register(both)).body).toEqual({ result: 'success', msg: '' });
      expect(await relay.devices()).toMatchObject([
        { push_account_id: `token:${computeTokenId('a token')}` },
      ]);
    });
  });
});

import type { RelayDeviceId } from '@waxwing/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sequenceRetentionMilliseconds } from '#relay/scheduled-jobs.js';
import { addRealms } from '#relay/servers/manage-servers.js';
import { idle } from '../../../support/idle.js';
import { seal } from '../../../support/noble-oracle.js';
import { registrationVectors } from '../../../support/protocol-vectors.js';
import { eachBackend } from '../../../support/test-databases.js';
import { goodForm, type RelayUnderTest, realmUuid, startRelayUnderTest } from '../relay-under-test.js';

const secondRealmUuid = '11111111-2222-4333-8444-555555555555';
const day = 86_400;
const { keys, now } = registrationVectors();
const superseded = {
  status: 400,
  body: { result: 'error', code: 'REQUEST_EXPIRED', msg: 'Request expired' },
};
const invalid = {
  status: 400,
  body: { result: 'error', code: 'BAD_REQUEST', msg: 'Invalid encrypted_push_registration' },
};

/** Returns a form with a registration that another implementation sealed. */
function form(registration: object, pushAccountId = '2408'): Record<string, string> {
  const publicKey = keys[0]?.public_key ?? '';
  const plaintext = JSON.stringify({
    token_kind: 'fcm',
    token: 'a token',
    timestamp: now,
    audience: realmUuid,
    ...registration,
  });
  const ephemeral = crypto.getRandomValues(new Uint8Array(32));
  const box = seal(new TextEncoder().encode(plaintext), Buffer.from(publicKey, 'base64'), ephemeral);
  return goodForm({
    push_account_id: pushAccountId,
    encrypted_push_registration: Buffer.from(box).toString('base64'),
    bouncer_public_key: publicKey,
  });
}

eachBackend((backend) => {
  let relay: RelayUnderTest;
  beforeEach(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl());
  });
  afterEach(() => relay.close());

  const register = async (registration: object, pushAccountId?: string) =>
    relay.register(form(registration, pushAccountId));

  describe('the sequence of a registration', () => {
    it('may increase or repeat, for the same or another token', async () => {
      const { body } = await register({ sequence: 5 });
      expect(await register({ sequence: 5 })).toMatchObject({ status: 200, body });
      expect(await register({ sequence: 6 })).toMatchObject({ status: 200, body });
      expect(await register({ sequence: 7, token: 'another' })).toMatchObject({ status: 200 });
      // Simulates two phones with copies of the same account data, in the same second.
      const { body: other } = await register({ sequence: 7, token: 'of a copy' });
      expect(other).toMatchObject({ result: 'success' });
      expect(other.device_id).not.toBe(body.device_id);
    });

    it('must not decrease, regardless of the timestamp', async () => {
      const hoarded = Array.from({ length: 31 }, (_, days) => ({
        sequence: now * 1000 + days,
        timestamp: now + days * day,
      }));
      expect(await register({ sequence: now * 1000 + 31 })).toMatchObject({ status: 200 });
      for (const [days, registration] of hoarded.entries()) {
        relay.time.now = (now + days * day) * 1000;
        expect(await register(registration)).toMatchObject(superseded);
        expect(await register({ ...registration, token: 'another' })).toMatchObject(superseded);
      }
      expect(await relay.devices()).toMatchObject([{ registered_at: now * 1000 }]);
    });

    it('is kept when the server removes the device', async () => {
      const { body } = await register({ sequence: 9 });
      await relay.database.db
        .deleteFrom('relay_devices')
        .where('id', '=', body.device_id as RelayDeviceId)
        .execute();
      expect(await register({ sequence: 8 })).toMatchObject(superseded);
      expect(await register({ sequence: 9 })).toMatchObject({ status: 200 });
    });

    it('counts only for its own account and realm', async () => {
      await addRealms(relay.database, relay.server.serverId, [secondRealmUuid], relay.time.now);
      expect(await register({ sequence: 9 })).toMatchObject({ status: 200 });
      expect(await register({ sequence: 1 }, '2409')).toMatchObject({ status: 200 });
      const elsewhere = form({ sequence: 1, audience: secondRealmUuid });
      expect(await relay.register({ ...elsewhere, realm_uuid: secondRealmUuid })).toMatchObject({
        status: 200,
      });
      expect(await register({ sequence: 8 })).toMatchObject(superseded);
    });

    it('may be missing, as in stock clients, until the account has presented one', async () => {
      for (const stock of [{}, { sequence: null }, { sequence: 0 }]) {
        expect(await register(stock)).toMatchObject({ status: 200 });
      }
      const remembered = relay.database.db.selectFrom('registration_sequences').where('sequence', '>', 0);
      expect(await remembered.selectAll().execute()).toEqual([]);
      expect(await register({ sequence: 1 })).toMatchObject({ status: 200 });
      expect(await register({})).toMatchObject(superseded);
      expect(await register({}, '2409')).toMatchObject({ status: 200 });
    });

    it.each(['1', -1, 1.5, 2 ** 53, true, [1]])('is malformed if it is %j', async (sequence) => {
      expect(await register({ sequence })).toMatchObject(invalid);
    });

    it('admits only the latest of several concurrent registrations', async () => {
      const answers = await Promise.all([
        ...[3, 1, 2, 3].map((sequence) => register({ sequence })),
        register({}),
        register({ sequence: 1 }, '2409'),
      ]);
      const [latest, one, two, latestAgain, none, another] = answers.map(({ status }) => status);
      expect([latest, latestAgain, another]).toEqual([200, 200, 200]);
      // The other requests succeed or fail, depending on the order in which the relay handles them.
      for (const status of [one, two, none]) expect([200, 400]).toContain(status);
      for (const late of [{ sequence: 1 }, { sequence: 2 }, {}]) {
        expect(await register(late)).toMatchObject(superseded);
      }
    });

    it('does not count if the registration is refused for another reason', async () => {
      expect(await register({ sequence: 9, timestamp: now - day - 1 })).toMatchObject({ status: 400 });
      expect(await register({ sequence: 9, timestamp: now + day + 1 })).toMatchObject(invalid);
      expect(await register({ sequence: 9, audience: secondRealmUuid })).toMatchObject(invalid);
      expect(await register({ sequence: 9, push_account_id: '7' })).toMatchObject(invalid);
      expect(await register({ sequence: 1 })).toMatchObject({ status: 200 });
    });

    it('must be at most a day ahead of the clock, like a timestamp', async () => {
      const latest = (now + day) * 1000 + 999;
      for (const sequence of [latest + 1, Number.MAX_SAFE_INTEGER]) {
        expect(await register({ sequence })).toMatchObject(invalid);
      }
      expect(await register({ sequence: now * 1000 })).toMatchObject({ status: 200 });
      expect(await register({ sequence: latest })).toMatchObject({ status: 200 });
      expect(await register({ sequence: now * 1000 })).toMatchObject(superseded);
    });

    it('is ignored if it was stored from a clock that was far ahead', async () => {
      const row = { presented_at: relay.time.now, sequence: Number.MAX_SAFE_INTEGER };
      await register({ sequence: 9 });
      await register({ sequence: 9 }, '2409');
      await relay.database.db.updateTable('registration_sequences').set(row).execute();
      expect(await register({}, '2409')).toMatchObject({ status: 200 });
      expect(await register({ sequence: now * 1000 })).toMatchObject({ status: 200 });
      expect(await register({ sequence: now * 1000 - 1 })).toMatchObject(superseded);
    });

    it('is deleted 400 days after the last accepted registration, regardless of refused registrations', async () => {
      const { database } = relay;
      await register({ sequence: 9 });
      const remembered = () => database.db.selectFrom('registration_sequences').select('sequence').execute();
      const start = relay.time.now;
      relay.time.now = start + 10 * 86_400_000;
      const replayed = { sequence: 8, timestamp: now + 10 * day };
      expect(await register(replayed)).toMatchObject(superseded);
      relay.time.now = start + sequenceRetentionMilliseconds - 86_400_000;
      await idle(database.jobs);
      expect(await remembered()).toEqual([{ sequence: 9 }]);
      relay.time.now += 2 * 86_400_000;
      await idle(database.jobs);
      expect(await remembered()).toEqual([]);
    });
  });

  describe('the account that a registration names', () => {
    it('must be the account in the request', async () => {
      expect(await register({ push_account_id: '2408' })).toMatchObject({ status: 200 });
      expect(await register({ push_account_id: 2408 })).toMatchObject({ status: 200 });
      expect(await register({ push_account_id: null })).toMatchObject({ status: 200 });
      expect(await register({ push_account_id: '2409' })).toMatchObject(invalid);
      expect(await register({ push_account_id: 'abc' })).toMatchObject(invalid);
    });

    it('is compared as a 64-bit integer', async () => {
      const accountId = '9007199254740993';
      expect(await register({ push_account_id: accountId }, accountId)).toMatchObject({ status: 200 });
      expect(await register({ push_account_id: '9007199254740992' }, accountId)).toMatchObject(invalid);
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasReadableToken, toRelayDevice } from '#relay/registrations/store/relay-device.js';
import { registrationVectors, relayProtocolVectors } from '../../../support/protocol-vectors.js';
import { eachBackend } from '../../../support/test-databases.js';
import { type RelayUnderTest, realmUuid, startRelayUnderTest } from '../relay-under-test.js';

eachBackend((backend) => {
  let relay: RelayUnderTest;
  beforeAll(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl());
  });
  afterAll(() => relay.close());

  async function registeredAs(deviceId: unknown) {
    const row = (await relay.devices()).find(({ id }) => id === deviceId);
    const device = row && toRelayDevice(row, relay.context.tokenVault);
    return device !== undefined && hasReadableToken(device) ? device.target : device;
  }

  describe('registrations that were sealed with PyNaCl (libsodium)', () => {
    const vectors = relayProtocolVectors();

    it.each(vectors.registrations)('are accepted, and the token can be decrypted: $kind', async (vector) => {
      relay.time.now = 1_773_200_000_000;
      const answer = await relay.register({
        realm_uuid: realmUuid,
        push_account_id: '-9223372036854775808',
        encrypted_push_registration: vector.sealed,
        bouncer_public_key: vectors.bouncer_public_key,
      });
      expect(answer).toMatchObject({ status: 200, body: { result: 'success', msg: '' } });
      const { token, ios_app_id: iosAppId } = JSON.parse(vector.plaintext);
      const expected =
        vector.kind === 'fcm'
          ? { tokenKind: 'fcm', token }
          : { tokenKind: 'apns', token, iosAppId, apnsEnvironment: 'production' };
      expect(await registeredAs(answer.body.device_id)).toEqual(expected);
    });
  });

  describe('invalid registrations, and boundary cases that are valid', () => {
    const { vectors, now } = registrationVectors();

    it.each(vectors.map((vector, index) => ({ ...vector, index })))('$name', async (vector) => {
      relay.time.now = now * 1000;
      const before = await relay.rows();
      const answer = await relay.register({
        realm_uuid: realmUuid,
        push_account_id: String(vector.index),
        encrypted_push_registration: vector.encrypted_push_registration,
        bouncer_public_key: vector.bouncer_public_key,
      });
      if ('error' in vector.expect) {
        const code = vector.expect.error;
        expect(answer).toMatchObject({ status: 400, body: { result: 'error', code, msg: messages[code] } });
        expect(Object.keys(answer.body).sort()).toEqual(['code', 'msg', 'result']);
        expect(await relay.rows()).toEqual(before);
      } else {
        expect(answer).toMatchObject({ status: 200, body: { result: 'success', msg: '' } });
        const { token, token_kind: tokenKind, ios_app_id: iosAppId } = vector.expect.ok;
        const apns = iosAppId === null ? {} : { iosAppId, apnsEnvironment: 'production' };
        expect(await registeredAs(answer.body.device_id)).toEqual({ token, tokenKind, ...apns });
      }
    });
  });
});

// The messages that docs/protocol.md specifies.
const messages = {
  BAD_REQUEST: 'Invalid encrypted_push_registration',
  REQUEST_EXPIRED: 'Request expired',
  INVALID_BOUNCER_PUBLIC_KEY: 'Invalid bouncer_public_key',
};

import type { PushAccountIdText, RelayDeviceId } from '@waxwing/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importKeys } from '#relay/keyring/ring/key-ring-transitions.js';
import type { RelayDeviceName } from '#relay/registrations/store/relay-device.js';
import {
  findRelayDevices,
  markExpired,
  setApnsEnvironment,
} from '#relay/registrations/store/relay-device-store.js';
import { addRealms } from '#relay/servers/manage-servers.js';
import { accountIdText, realmId, relayDeviceId } from '../../../support/ids.js';
import { seal } from '../../../support/noble-oracle.js';
import { registrationVectors, relayProtocolVectors } from '../../../support/protocol-vectors.js';
import { eachBackend } from '../../../support/test-databases.js';
import { policy } from '../keyring/ring-material.js';
import {
  goodForm,
  importedKey,
  otherRealmUuid,
  type RelayUnderTest,
  realmUuid,
  startRelayUnderTest,
} from '../relay-under-test.js';

const secondRealmUuid = '11111111-2222-4333-8444-555555555555';
const { keys, now } = registrationVectors();

/** Seals a registration to a key of the ring, with another implementation. */
function sealed(plaintext: object, key = keys[0]): Record<string, string> {
  const ephemeral = crypto.getRandomValues(new Uint8Array(32));
  const publicKey = new Uint8Array(Buffer.from(key?.public_key ?? '', 'base64'));
  const box = seal(new TextEncoder().encode(JSON.stringify(plaintext)), publicKey, ephemeral);
  return {
    encrypted_push_registration: Buffer.from(box).toString('base64'),
    bouncer_public_key: key?.public_key ?? '',
  };
}

const fcm = (token: string) => ({ token_kind: 'fcm', token, timestamp: now });
const apns = (token: string, more: object = {}) => ({
  token_kind: 'apns',
  token,
  timestamp: now,
  ios_app_id: 'org.example.App',
  ...more,
});

eachBackend((backend) => {
  let relay: RelayUnderTest;
  beforeEach(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl());
  });
  afterEach(() => relay.close());

  async function deviceIdOf(form: Record<string, string>, headers: Record<string, string> = {}) {
    const { body } = await relay.register(form, headers);
    expect(body).toMatchObject({ result: 'success', msg: '' });
    return body.device_id as RelayDeviceId;
  }

  async function findDevice(id: RelayDeviceId) {
    const found = await findRelayDevices(relay.database.db, [id], relay.context.tokenVault);
    return found.find(await nameOf(id));
  }

  async function nameOf(id: RelayDeviceId): Promise<RelayDeviceName> {
    const row = await relay.database.db
      .selectFrom('relay_devices')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return {
      realmId: row.realm_id,
      relayDeviceId: id,
      addressee: row.push_account_id as PushAccountIdText,
    };
  }

  describe('a repeat', () => {
    it('gets the same device id and creates no second row', async () => {
      const first = await deviceIdOf(goodForm());
      const second = await deviceIdOf(goodForm());
      expect(second).toBe(first);
      expect(await relay.devices()).toHaveLength(1);
    });

    it('updates the app id, environment and time', async () => {
      const id = await deviceIdOf(goodForm(sealed(apns('C0FFEE'))));
      relay.time.now += 5000;
      await deviceIdOf(
        goodForm(sealed(apns('C0FFEE', { ios_app_id: 'org.example.Beta', apns_environment: 'sandbox' }))),
      );
      expect(await findDevice(id)).toEqual({
        id,
        realmId: 1,
        target: {
          tokenKind: 'apns',
          token: 'C0FFEE',
          iosAppId: 'org.example.Beta',
          apnsEnvironment: 'sandbox',
        },
        registeredAt: relay.time.now,
        expiredAt: undefined,
      });
    });

    it('revives an expired device', async () => {
      const id = await deviceIdOf(goodForm());
      const expiry = { at: relay.time.now + 1, ifRegisteredBefore: relay.time.now + 1 };
      const name = await nameOf(id);
      expect(await relay.database.write(({ db }) => markExpired(db, name, expiry))).toBe(true);
      expect((await findDevice(id))?.expiredAt).toBe(expiry.at);
      relay.time.now += 5000;
      expect(await deviceIdOf(goodForm())).toBe(id);
      expect((await findDevice(id))?.expiredAt).toBeUndefined();
    });

    it('gets the same row and id when 100 copies arrive concurrently', async () => {
      const forms = Array.from({ length: 100 }, () => goodForm());
      const ids = await Promise.all(forms.map((form) => deviceIdOf(form)));
      expect(new Set(ids).size).toBe(1);
      expect(await relay.devices()).toHaveLength(1);
      expect(await relay.keyUses()).toEqual({ [goodForm().bouncer_public_key ?? '']: 100 });
    });
  });

  describe('a second device', () => {
    it.each([
      ['a different push account', goodForm({ push_account_id: '-2408' })],
      ['a different token', goodForm(sealed(fcm('another token')))],
      ['a token that differs only in case', goodForm(sealed(fcm('FCM-TOKEN-1:APA91bExample_-')))],
    ])('is created for %s', async (_what, form) => {
      const first = await deviceIdOf(goodForm());
      expect(await deviceIdOf(form)).not.toBe(first);
      expect(await relay.devices()).toHaveLength(2);
    });

    it('is created for the same token and account in another realm of any server', async () => {
      await addRealms(relay.database, relay.server.serverId, [secondRealmUuid], relay.time.now);
      const ids = [
        await deviceIdOf(goodForm(sealed(fcm('one token')))),
        await deviceIdOf(goodForm({ ...sealed(fcm('one token')), realm_uuid: secondRealmUuid })),
        await deviceIdOf(goodForm({ ...sealed(fcm('one token')), realm_uuid: otherRealmUuid }), {
          authorization: relay.otherAuthorization,
        }),
      ];
      expect(new Set(ids).size).toBe(3);
    });

    it('cannot be found with another realm or account', async () => {
      const id = await deviceIdOf(goodForm());
      const other = await relay.context.servers.realm(otherRealmUuid);
      const name = await nameOf(id);
      const found = await findRelayDevices(relay.database.db, [id], relay.context.tokenVault);
      expect(found.find({ ...name, realmId: other?.realmId ?? realmId(0) })).toBeUndefined();
      expect(found.find({ ...name, addressee: accountIdText('-2408') })).toBeUndefined();
      expect(found.find({ ...name, relayDeviceId: relayDeviceId(id + 1) })).toBeUndefined();
      expect(found.find(name)).toMatchObject({ id });
    });

    it('is not changed by delivery outcomes for its id in another realm or account', async () => {
      const id = await deviceIdOf(goodForm(sealed(apns('C0FFEE'))));
      const name = await nameOf(id);
      const other = await relay.context.servers.realm(otherRealmUuid);
      const others = [
        { ...name, realmId: other?.realmId ?? realmId(0) },
        { ...name, addressee: accountIdText('-2408') },
      ];
      const expiry = { at: relay.time.now, ifRegisteredBefore: relay.time.now + 1 };
      for (const wrong of others) {
        expect(await relay.database.write(({ db }) => markExpired(db, wrong, expiry))).toBe(false);
        const set = await relay.database.write(({ db }) => setApnsEnvironment(db, wrong, 'sandbox'));
        expect(set).toBe(false);
      }
      expect(await relay.database.write(({ db }) => setApnsEnvironment(db, name, 'sandbox'))).toBe(true);
      expect(await relay.database.write(({ db }) => markExpired(db, name, expiry))).toBe(true);
    });
  });

  it('opens registrations for several keys in one batch, and refuses only invalid registrations', async () => {
    const protocol = relayProtocolVectors();
    const forms = [
      goodForm({ push_account_id: '1' }),
      goodForm({ push_account_id: '2', ...sealed(fcm('two'), keys[1]) }),
      goodForm({ push_account_id: '3', encrypted_push_registration: 'AAAA' }),
      goodForm({ push_account_id: '4', bouncer_public_key: keys[2]?.public_key ?? '' }),
      goodForm({
        push_account_id: '5',
        encrypted_push_registration: protocol.registrations[0]?.sealed ?? '',
        bouncer_public_key: protocol.bouncer_public_key,
      }),
    ];
    const answers = await Promise.all(forms.map((form) => relay.register(form)));
    expect(answers.map(({ body }) => body.code ?? body.result)).toEqual([
      'success',
      'success',
      'BAD_REQUEST',
      'INVALID_BOUNCER_PUBLIC_KEY',
      'REQUEST_EXPIRED',
    ]);
    expect(await relay.devices()).toHaveLength(2);
    expect(await relay.keyUses()).toEqual({
      [keys[0]?.public_key ?? '']: 1,
      [keys[1]?.public_key ?? '']: 1,
    });
  });

  it('gives each of 400 concurrent registrations its own device', async () => {
    const forms = Array.from({ length: 400 }, (_, index) =>
      goodForm({ ...sealed(fcm('one token')), push_account_id: String(index) }),
    );
    const ids = await Promise.all(forms.map((form) => deviceIdOf(form)));
    expect(new Set(ids).size).toBe(400);
    const rows = await relay.devices();
    const accountOf = new Map(rows.map((row) => [row.id, row.push_account_id]));
    expect(ids.map((id) => accountOf.get(id))).toEqual(forms.map((form) => form.push_account_id));
  });

  it('returns INVALID_BOUNCER_PUBLIC_KEY if the key expires while the registration is pending', async () => {
    const answer = relay.register(goodForm());
    relay.time.now += policy.acceptForMilliseconds;
    expect((await answer).body.code).toBe('INVALID_BOUNCER_PUBLIC_KEY');
  });

  it('refreshes the ring for an unknown key that another relay has just added', async () => {
    const stranger = keys.find(({ in_key_ring }) => !in_key_ring);
    if (stranger === undefined) throw new Error('the vectors hold no key that is not in the ring');
    const context = { now: relay.time.now, policy };
    const change = { actor: 'another relay', action: 'import' };
    await relay.ring.keeper.change((ring) => importKeys(ring, [importedKey(stranger)], context), change);
    expect(await deviceIdOf(goodForm(sealed(fcm('one token'), stranger)))).toEqual(expect.any(Number));
  });

  it('charges the server’s quota before it validates a registration', async () => {
    const { quotas } = relay.context;
    quotas.take(relay.server.serverId, 600_000);
    const refused = await relay.register({});
    expect(refused).toMatchObject({ status: 503, body: { code: 'RATE_LIMIT_HIT' } });
  });

  it('accepts an upper-case realm UUID, and lists unknown parameters in the response', async () => {
    const answer = await relay.register({ ...goodForm({ realm_uuid: realmUuid.toUpperCase() }), extra: '1' });
    expect(answer.body).toMatchObject({ result: 'success', ignored_parameters_unsupported: ['extra'] });
  });

  it('returns an error for the whole batch, and stores nothing, if the commit fails', async () => {
    await relay.database.write(({ db }) => db.schema.dropTable('bouncer_key_uses').execute());
    const answers = await Promise.all([relay.register(goodForm()), relay.register(goodForm())]);
    expect(answers.map(({ status }) => status)).toEqual([500, 500]);
    expect(await relay.devices()).toEqual([]);
  });
});

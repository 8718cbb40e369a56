import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isBoundTo, markSealedRegistration } from '#relay/registrations/opening/open-registration.js';
import { forgetPresentedRegistrations } from '#relay/registrations/write/presented-registrations.js';
import { addRealms } from '#relay/servers/manage-servers.js';
import { accountIdText, realmId } from '../../../support/ids.js';
import { seal } from '../../../support/noble-oracle.js';
import { registrationVectors } from '../../../support/protocol-vectors.js';
import { eachBackend } from '../../../support/test-databases.js';
import {
  goodForm,
  otherRealmUuid,
  type RelayUnderTest,
  realmUuid,
  startRelayUnderTest,
} from '../relay-under-test.js';

const secondRealmUuid = '11111111-2222-4333-8444-555555555555';
const { keys, now } = registrationVectors();
const refused = {
  status: 400,
  body: { result: 'error', code: 'BAD_REQUEST', msg: 'Invalid encrypted_push_registration' },
};

/** Seals a registration with another implementation. */
function sealed(more: object = {}): Record<string, string> {
  const publicKey = keys[0]?.public_key ?? '';
  const plaintext = JSON.stringify({ token_kind: 'fcm', token: 'bound token', timestamp: now, ...more });
  const ephemeral = crypto.getRandomValues(new Uint8Array(32));
  const box = seal(new TextEncoder().encode(plaintext), Buffer.from(publicKey, 'base64'), ephemeral);
  return { encrypted_push_registration: Buffer.from(box).toString('base64'), bouncer_public_key: publicKey };
}

eachBackend((backend) => {
  let relay: RelayUnderTest;
  beforeEach(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl());
  });
  afterEach(() => relay.close());

  describe('the audience of a registration', () => {
    it('may be the realm’s UUID in upper or lower case', async () => {
      for (const audience of [realmUuid, realmUuid.toUpperCase()]) {
        expect(await relay.register(goodForm(sealed({ audience, nonce: 'n' })))).toMatchObject({
          status: 200,
        });
      }
    });

    it('must not be another realm', async () => {
      expect(await relay.register(goodForm(sealed({ audience: otherRealmUuid })))).toMatchObject(refused);
      expect(await relay.devices()).toEqual([]);
    });

    it('makes a replay record unnecessary', async () => {
      const form = goodForm(sealed({ audience: realmUuid }));
      await relay.register(form);
      const remembered = relay.database.db.selectFrom('presented_registrations').selectAll();
      expect(await remembered.execute()).toEqual([]);
      await addRealms(relay.database, relay.server.serverId, [secondRealmUuid], relay.time.now);
      expect(await relay.register({ ...form, realm_uuid: secondRealmUuid })).toMatchObject(refused);
    });

    it('may be missing, because stock clients omit it', async () => {
      expect(await relay.register(goodForm(sealed()))).toMatchObject({ status: 200 });
      expect(await relay.register(goodForm(sealed({ audience: null })))).toMatchObject({ status: 200 });
    });
  });

  describe('the same sealed bytes', () => {
    it('are accepted again for the realm that first presented them', async () => {
      const form = goodForm(sealed());
      const { body } = await relay.register(form);
      expect(await relay.register(form)).toMatchObject({ status: 200, body: { device_id: body.device_id } });
    });

    it('are refused for any other realm, even in another encoding', async () => {
      await addRealms(relay.database, relay.server.serverId, [secondRealmUuid], relay.time.now);
      const form = goodForm(sealed());
      await relay.register(form);
      const wrapped = { ...form, encrypted_push_registration: ` ${form.encrypted_push_registration}\n` };
      for (const replay of [form, wrapped]) {
        expect(await relay.register({ ...replay, realm_uuid: secondRealmUuid })).toMatchObject(refused);
        expect(
          await relay.register(
            { ...replay, realm_uuid: otherRealmUuid },
            { authorization: relay.otherAuthorization },
          ),
        ).toMatchObject(refused);
      }
      expect(await relay.devices()).toHaveLength(1);
    });

    it('create at most ten devices, for any number of push accounts', async () => {
      const form = goodForm(sealed());
      const present = (push_account_id: string) => relay.register({ ...form, push_account_id });
      const { body } = await present('1');
      const others = Array.from({ length: 30 }, (_, index) => String(index + 2));
      const first = await Promise.all(others.map(present));
      expect(first.filter(({ status }) => status === 200)).toHaveLength(9);
      for (const answer of first.filter(({ status }) => status !== 200))
        expect(answer).toMatchObject(refused);
      // Each account gets the same result again when the accounts register one by one in another order.
      for (const account of [...others].reverse()) {
        const { status, body } = first[Number(account) - 2] ?? refused;
        expect(await present(account)).toMatchObject({ status, body });
      }
      expect(await present('1')).toMatchObject({ status: 200, body: { device_id: body.device_id } });
      expect(await present('-1')).toMatchObject(refused);
      expect(await relay.devices()).toHaveLength(10);
    });

    it('are accepted again only for their realm if an older relay recorded them without push accounts', async () => {
      await addRealms(relay.database, relay.server.serverId, [secondRealmUuid], relay.time.now);
      const form = goodForm(sealed());
      const { body } = await relay.register(form);
      await relay.database.write(({ db }) =>
        db.updateTable('presented_registrations').set({ push_account_ids: '' }).execute(),
      );
      expect(await relay.register({ ...form, realm_uuid: secondRealmUuid })).toMatchObject(refused);
      expect(await relay.register(form)).toMatchObject({ body: { device_id: body.device_id } });
    });

    it('are accepted for only one of two realms that present them concurrently', async () => {
      await addRealms(relay.database, relay.server.serverId, [secondRealmUuid], relay.time.now);
      const form = goodForm(sealed());
      const answers = await Promise.all([
        relay.register(form),
        relay.register({ ...form, realm_uuid: secondRealmUuid }),
        relay.register(goodForm(sealed({ token: 'somebody else' }))),
      ]);
      expect(
        answers
          .slice(0, 2)
          .map(({ status }) => status)
          .sort(),
      ).toEqual([200, 400]);
      expect(answers[2]?.status).toBe(200);
      expect(await relay.devices()).toHaveLength(2);
    });

    it('count once per account toward the limit, and never for another realm', async () => {
      await addRealms(relay.database, relay.server.serverId, [secondRealmUuid], relay.time.now);
      const form = goodForm(sealed());
      for (let again = 0; again < 12; again += 1) expect((await relay.register(form)).status).toBe(200);
      for (let account = 1; account <= 12; account += 1) {
        const theirs = { ...form, realm_uuid: secondRealmUuid, push_account_id: String(account) };
        expect(await relay.register(theirs)).toMatchObject(refused);
      }
      expect((await relay.register({ ...form, push_account_id: '13' })).status).toBe(200);
    });

    it('lose their replay records in batches, but only expired records are deleted', async () => {
      // Jobs that run at every start would interfere.
      await relay.database.jobs.stop(5000);
      const many = 1000;
      const [row] = await relay.database.db.selectFrom('realms').select('id').execute();
      const rows = Array.from({ length: many + 1 }, (_none, index) => ({
        forget_at: index < many ? now : now + 1,
        hash: `hash ${index}`,
        realm_id: row?.id ?? realmId(0),
        push_account_ids: ',1,',
      }));
      await relay.database.db.insertInto('presented_registrations').values(rows).execute();
      const forgotten = forgetPresentedRegistrations(relay.database, now, new AbortController().signal);
      expect(await forgotten).toBe(many);
      const left = await relay.database.db.selectFrom('presented_registrations').select('hash').execute();
      expect(left).toEqual([{ hash: `hash ${many}` }]);
    });

    it('are recorded until they are too old for every realm', async () => {
      await addRealms(relay.database, relay.server.serverId, [secondRealmUuid], relay.time.now);
      const form = goodForm(sealed());
      await relay.register(form);
      relay.time.now = (now + 86_400) * 1000 + 999;
      await forgetPresentedRegistrations(relay.database, relay.time.now, new AbortController().signal);
      expect(await relay.register({ ...form, realm_uuid: secondRealmUuid })).toMatchObject(refused);
      relay.time.now += 1;
      await forgetPresentedRegistrations(relay.database, relay.time.now, new AbortController().signal);
      const remembered = relay.database.db.selectFrom('presented_registrations').selectAll();
      expect(await remembered.execute()).toEqual([]);
      expect((await relay.register({ ...form, realm_uuid: secondRealmUuid })).body.code).toBe(
        'REQUEST_EXPIRED',
      );
    });
  });
});

describe('the binding rules', () => {
  it('accept a timestamp that is ahead by at most the liveness timeout', () => {
    const presentation = { realmUuid, addressee: accountIdText(1), now: now * 1000 + 999 };
    expect(isBoundTo({ timestamp: now + 86_400 }, presentation)).toBe(true);
    expect(isBoundTo({ timestamp: now + 86_401 }, presentation)).toBe(false);
  });

  it('identify a sealed registration by the SHA-256 of its bytes', () => {
    const mark = markSealedRegistration(new TextEncoder().encode('abc'), { timestamp: 1000 });
    expect(mark).toEqual({
      hash: 'ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=',
      forgetAt: (1000 + 86_401) * 1000,
    });
  });
});

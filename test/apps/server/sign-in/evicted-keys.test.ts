import { Secret } from '@waxwing/service/config';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setPassword } from '#server/membership/user-administration/set-password.js';
import { maximumSignInKeys } from '#server/platform/authentication/sign-in-key-store.js';
import { registered } from '../../../support/relay-stand-in.js';
import { eachBackend } from '../../../support/test-databases.js';
import {
  createDevice,
  devicesOf,
  keyFields,
  tokenFields,
  tokenIdOf,
  tokenRegistered,
} from '../push/client-device-under-test.js';
import { type Account, ServerUnderTest, testPhone } from '../server-under-test.js';

const password = 'correct horse battery';

eachBackend((backend) => {
  let test: ServerUnderTest;
  let ada: Account;
  beforeEach(async () => {
    test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl() });
    test.relay.otherwise(tokenRegistered);
    ada = await test.addAccount('ada@example.com');
    const { database } = test.server;
    await setPassword(
      database,
      () => test.now,
      ada.email,
      async () => new Secret(password),
    );
  });
  afterEach(() => test.close());

  const signIn = async (): Promise<Account> => {
    const { body } = await test.ask(undefined, 'POST', 'fetch_api_key', { username: ada.email, password });
    const apiKey = String(body.api_key);
    return {
      ...ada,
      apiKey,
      authorization: `Basic ${Buffer.from(`${ada.email}:${apiKey}`).toString('base64')}`,
    };
  };
  /** Fills the list of keys, so that the next sign-in evicts the oldest. */
  const fillUp = async (present: number) => {
    const row = { user_id: ada.userId, created_at: test.now };
    const rows = Array.from({ length: maximumSignInKeys - present }, (_, index) => ({
      ...row,
      key_hash: `hash ${index}`,
    }));
    await test.server.database.db.insertInto('sign_in_keys').values(rows).execute();
  };
  const registerDevice = async (by: Account, id: number, token: string, keyId = 7) => {
    const key = keyFields(keyId, new Uint8Array(32).fill(keyId));
    await test.register(by, { device_id: String(id), ...key, ...tokenFields(token) });
    await test.settle();
  };
  const activeDevice = async (by: Account, token: string) => {
    const id = await createDevice(test, by);
    await registerDevice(by, id, token);
    return id;
  };
  const removals = (name: string) =>
    test.relay.requests
      .filter(({ path }) => path.endsWith('/remove'))
      .flatMap(({ body }) => JSON.parse(new URLSearchParams(body).get(name) ?? '[]') as unknown[]);

  describe('the phones of a sign-in key that is evicted', () => {
    it('are removed from the server and the relay, with an event, while phones of other keys stay', async () => {
      const [first, second] = [await signIn(), await signIn()];
      const gone = await activeDevice(first, 'first');
      const created = await createDevice(test, first);
      const kept = [await activeDevice(second, 'second'), await activeDevice(ada, 'third')];
      const events = await test.openQueue(ada, { event_types: '["device"]' });
      await fillUp(2);
      const last = await signIn();
      await test.settle();
      expect((await test.ask(first, 'GET', 'users/me')).status).toBe(401);
      expect(Object.keys(await devicesOf(test, last))).toEqual(kept.map(String));
      expect(await events()).toEqual([
        { id: 0, type: 'device', op: 'remove', device_id: gone },
        { id: 1, type: 'device', op: 'remove', device_id: created },
      ]);
      expect(removals('token_ids')).toEqual([tokenIdOf('first')]);
    });

    it('are also removed if they registered in the older generation', async () => {
      const [first, second] = [await signIn(), await signIn()];
      test.relay.otherwise(registered(7));
      await test.register(first, testPhone('1').fields);
      await test.settle();
      test.relay.otherwise(registered(8));
      await test.register(second, testPhone('2').fields);
      await test.settle();
      await fillUp(2);
      const last = await signIn();
      await test.settle();
      expect(await test.pushDevices(last)).toEqual({ 2: { status: 'active', error_code: null } });
      expect(removals('device_ids')).toEqual([7]);
    });

    it('stay if they have registered with another key since, even if nothing else changed', async () => {
      const [first, second] = [await signIn(), await signIn()];
      const same = await activeDevice(first, 'first');
      await registerDevice(second, same, 'first');
      const rotated = await activeDevice(first, 'rotated');
      await registerDevice(second, rotated, 'rotated', 8);
      const { fields } = testPhone('1');
      test.relay.otherwise(registered(7));
      for (const by of [first, second]) {
        await test.register(by, fields);
        await test.settle();
      }
      await fillUp(2);
      const last = await signIn();
      await test.settle();
      expect(Object.keys(await devicesOf(test, last))).toEqual([same, rotated].map(String));
      expect(await test.pushDevices(last)).toEqual({ 1: { status: 'active', error_code: null } });
      expect([removals('token_ids'), removals('device_ids')]).toEqual([[], []]);
    });
  });
});

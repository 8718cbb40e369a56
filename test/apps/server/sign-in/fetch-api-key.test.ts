import { scryptSync } from 'node:crypto';
import { Secret } from '@waxwing/service/config';
import { AddressRanges } from '@waxwing/service/http-settings';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { maximumAddressFailures } from '#server/membership/sign-in/address-failures.js';
import { deactivateByAddress } from '#server/membership/user-administration/change-activity.js';
import { rotateApiKey } from '#server/membership/user-administration/manage-users.js';
import { setPassword } from '#server/membership/user-administration/set-password.js';
import { storePassword } from '#server/platform/authentication/password-store.js';
import { maximumSignInKeys } from '#server/platform/authentication/sign-in-key-store.js';
import { observeQueries } from '../../../support/observe-queries.js';
import { eachBackend } from '../../../support/test-databases.js';
import { type Account, type Answer, ServerUnderTest } from '../server-under-test.js';

const minute = 60_000;
const password = 'correct horse battery';

/** A stored password hash with a low cost for fast tests. The hash contains its cost. */
const salt = Buffer.alloc(16, 'salt');
const hash = scryptSync(password, salt, 32, { N: 2 ** 4, r: 8, p: 1 });
const cheapHash = `scrypt$4$8$1$${salt.toString('base64')}$${hash.toString('base64')}`;

eachBackend((backend) => {
  let test: ServerUnderTest;
  /** A new user in each test, without failed sign-ins. */
  let ada: Account;
  let people = 0;
  beforeAll(async () => {
    test = await ServerUnderTest.start({
      databaseUrl: await backend.freshUrl(),
      withoutRelay: true,
      http: { trustedProxies: new AddressRanges(['127.0.0.1']) },
    });
    // Waits for the scheduled jobs that run when a server starts.
    await test.settle();
  });
  beforeEach(async () => {
    people += 1;
    ada = await test.addAccount(`Ada${people}@example.com`);
    await test.server.database.write(({ db }) => storePassword(db, ada.userId, cheapHash));
  });
  afterAll(() => test.close());

  const givePassword = ({ email }: Account, text: string) => {
    const { database } = test.server;
    return setPassword(
      database,
      () => test.now,
      email,
      async () => new Secret(text),
    );
  };
  const newPerson = () => test.addAccount(`bob${people}@example.com`);
  const newBot = () => test.addAccount(`bot${people}@example.com`, { isBot: true });

  /** Signs in from an address, or through a proxy that does not send an address. */
  function signIn(username: string, given: string, address?: string): Promise<Answer> {
    return test.send({
      method: 'POST',
      url: '/api/v1/fetch_api_key',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(address === undefined ? {} : { 'x-forwarded-for': address }),
      },
      payload: new URLSearchParams({ username, password: given }).toString(),
    });
  }

  const basic = (email: string, key: unknown) => `Basic ${btoa(`${email}:${key}`)}`;
  const asks = async (email: string, key: unknown) =>
    (await test.ask({ ...ada, authorization: basic(email, key) }, 'GET', 'users/me')).status;

  describe('signing in with a password', () => {
    it('returns a key of 32 letters and digits, and the user’s existing keys stay valid', async () => {
      const { status, body } = await signIn(ada.email.toUpperCase(), password);
      expect([status, body]).toEqual([
        200,
        {
          result: 'success',
          msg: '',
          email: ada.email,
          user_id: ada.userId,
          api_key: expect.stringMatching(/^[A-Za-z0-9]{32}$/),
        },
      ]);
      const other = await signIn(ada.email, password);
      expect(other.body.api_key).not.toBe(body.api_key);
      for (const key of [ada.apiKey, body.api_key, other.body.api_key]) {
        expect(await asks(ada.email, key)).toBe(200);
        const signedIn = { ...ada, authorization: basic(ada.email, key) };
        const changed = await test.ask(signedIn, 'PATCH', 'settings', { enter_sends: 'true' });
        expect(changed.status).toBe(200);
      }
      expect(await asks(ada.email, `${body.api_key}`.toLowerCase())).toBe(401);
    });

    it('accepts the same password in another Unicode normalization', async () => {
      await givePassword(ada, 'caf\u00e9 noir');
      expect((await signIn(ada.email, 'cafe\u0301 noir')).status).toBe(200);
    });

    it.each([
      ['a wrong password', () => ada.email, 'wrong horse battery'],
      ['an unknown name', () => 'eve@example.com', password],
      ['no address', () => 'ada', password],
      ['nothing', () => '', ''],
    ])('refuses %s with the same message', async (_case, name, given) => {
      const { status, body } = await signIn(name(), given);
      expect([status, body]).toEqual([
        401,
        { result: 'error', msg: 'Your username or password is incorrect', code: 'AUTHENTICATION_FAILED' },
      ]);
    });

    it('runs the same database queries for every name', async () => {
      const bob = await newPerson();
      const statementsFor = async (name: string) => {
        const statements: string[] = [];
        const stop = observeQueries(test.server.database.db, ({ sql }) => {
          // Background jobs poll the database at the same time.
          if (/"users"|"sign_in|"passwords"/.test(sql)) statements.push(sql);
        });
        await signIn(name, 'wrong horse battery');
        stop();
        return statements;
      };
      const known = await statementsFor(ada.email);
      expect(known.length).toBeGreaterThan(1);
      for (const name of [bob.email, 'unknown@example.com', 'unknown']) {
        expect(await statementsFor(name)).toEqual(known);
      }
    });

    it('refuses bots, and refuses an API key as the password of a user without a password', async () => {
      const bob = await newPerson();
      const bot = await newBot();
      await expect(givePassword(bot, password)).rejects.toThrow('is a bot');
      expect((await signIn(bob.email, bob.apiKey)).body.code).toBe('AUTHENTICATION_FAILED');
      await test.server.database.write(({ db }) => storePassword(db, bot.userId, cheapHash));
      expect((await signIn(bot.email, password)).body.code).toBe('AUTHENTICATION_FAILED');
    });

    it('reports that a user is deactivated only if the password is right', async () => {
      await deactivateByAddress(test.server.database, () => test.now, ada.email);
      expect((await signIn(ada.email, 'wrong horse battery')).body.code).toBe('AUTHENTICATION_FAILED');
      const { status, body } = await signIn(ada.email, password);
      expect([status, body.code]).toEqual([401, 'USER_DEACTIVATED']);
    });

    it.each([
      [{ username: 'a'.repeat(255), password }, 'BAD_REQUEST', 'username'],
      [{ username: 'ada@example.com', password: 'p'.repeat(101) }, 'BAD_REQUEST', 'password'],
      [{ username: 'ada@example.com' }, 'REQUEST_VARIABLE_MISSING', 'password'],
      [{ password }, 'REQUEST_VARIABLE_MISSING', 'username'],
    ])('refuses the parameters %o', async (fields, code, name) => {
      const { status, body } = await test.ask(undefined, 'POST', 'fetch_api_key', fields as never);
      expect([status, body.code]).toEqual([400, code]);
      expect(body.msg).toContain(name);
      expect(body.msg).not.toContain('ppp');
    });

    it('stores and logs neither the password nor the key', async () => {
      const { body } = await signIn(ada.email, password);
      const { db } = test.server.database;
      const stored = JSON.stringify([
        await db.selectFrom('passwords').selectAll().execute(),
        await db.selectFrom('sign_in_keys').selectAll().execute(),
      ]);
      const logged = test.logged.text();
      for (const secret of [password, String(body.api_key)]) {
        expect(stored).not.toContain(secret);
        expect(logged).not.toContain(secret);
      }
    });
  });

  describe('sign-in keys', () => {
    it('are revoked when the password changes, the API key is rotated or the user is deactivated', async () => {
      const { database } = test.server;
      const again = 'another horse battery';
      const first = await signIn(ada.email, password);
      await givePassword(ada, again);
      expect(await asks(ada.email, first.body.api_key)).toBe(401);
      expect(await asks(ada.email, ada.apiKey)).toBe(200);
      const second = await signIn(ada.email, again);
      await rotateApiKey(database, () => test.now, ada.email);
      expect(await asks(ada.email, second.body.api_key)).toBe(401);
      const third = await signIn(ada.email, again);
      await deactivateByAddress(database, () => test.now, ada.email);
      expect(await asks(ada.email, third.body.api_key)).toBe(401);
      const keys = database.db.selectFrom('sign_in_keys').where('user_id', '=', ada.userId).selectAll();
      expect(await keys.execute()).toEqual([]);
    });

    it('are limited in number: a new key evicts the oldest key', async () => {
      const first = await signIn(ada.email, password);
      const row = { user_id: ada.userId, created_at: test.now };
      const hashes = Array.from({ length: maximumSignInKeys - 1 }, (_, index) => `hash ${index}`);
      const rows = hashes.map((hash) => ({ ...row, key_hash: hash }));
      await test.server.database.db.insertInto('sign_in_keys').values(rows).execute();
      expect(await asks(ada.email, first.body.api_key)).toBe(200);
      const last = await signIn(ada.email, password);
      expect(await asks(ada.email, first.body.api_key)).toBe(401);
      expect(await asks(ada.email, last.body.api_key)).toBe(200);
    });
  });

  describe('a client that fails too often', () => {
    const fail = async (name: string) => (await signIn(name, 'wrong horse battery')).body.code;

    /** Returns a function that reads stored failures of names that had no attempts before. */
    const watchFailures = async () => {
      const read = () => test.server.database.db.selectFrom('sign_in_failures').selectAll().execute();
      const before = new Set((await read()).map(({ name_digest }) => name_digest));
      return async () => (await read()).filter(({ name_digest }) => !before.has(name_digest));
    };

    it.each([
      ['a known name', () => ada.email],
      ['an unknown name', () => 'nobody@example.com'],
    ])(
      'is locked out of %s for half an hour after five tries, then for twice as long',
      async (_case, nameOf) => {
        const name = nameOf();
        const codes = [];
        for (let count = 0; count < 5; count++) codes.push(await fail(name));
        expect(new Set(codes)).toEqual(new Set(['AUTHENTICATION_FAILED']));
        const { status, body, headers } = await signIn(name.toUpperCase(), password);
        expect([status, body.code, body['retry-after']]).toEqual([429, 'RATE_LIMIT_HIT', 1800]);
        expect(headers['retry-after']).toBe('1800');
        test.now += 30 * minute;
        for (let count = 0; count < 5; count++) expect(await fail(name)).toBe('AUTHENTICATION_FAILED');
        expect((await signIn(name, password)).body['retry-after']).toBe(3600);
      },
    );

    it('can fail four times per half hour, and starts over after a success or a new password', async () => {
      for (let count = 0; count < 4; count++) await fail(ada.email);
      test.now += 30 * minute;
      for (let count = 0; count < 4; count++) expect(await fail(ada.email)).toBe('AUTHENTICATION_FAILED');
      expect((await signIn(ada.email, password)).status).toBe(200);
      for (let count = 0; count < 5; count++) expect(await fail(ada.email)).toBe('AUTHENTICATION_FAILED');
      expect(await fail(ada.email)).toBe('RATE_LIMIT_HIT');
      await givePassword(ada, password);
      expect((await signIn(ada.email, password)).status).toBe(200);
    });

    it('gets no additional attempts with concurrent requests', async () => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => fail(ada.email)));
      expect(answers.filter((code) => code === 'AUTHENTICATION_FAILED').length).toBeLessThanOrEqual(5);
      expect(answers).toContain('RATE_LIMIT_HIT');
    });

    it('is blocked by its address for all names, while other clients can sign in', async () => {
      const failures = await watchFailures();
      const attacker = '203.0.113.7';
      let isOver = false;
      let refused = 0;
      const attack = async (lane: number) => {
        for (let count = 0; !isOver; count++) {
          const answer = await signIn(`eve${lane}-${count}@example.com`, password, attacker);
          if (answer.status === 429) refused += 1;
          if (refused > 500) return;
        }
      };
      const attacks = Array.from({ length: 20 }, (_, lane) => attack(lane));
      for (let count = 0; count < 3; count++) {
        expect((await signIn(ada.email, password, '198.51.100.9')).status).toBe(200);
      }
      isOver = true;
      await Promise.all(attacks);
      expect(refused).toBeGreaterThan(0);
      expect((await failures()).length).toBeLessThanOrEqual(maximumAddressFailures);
    });

    it('is not blocked by its address for attempts without a password check', async () => {
      const address = '203.0.113.8';
      const tryAda = () => signIn(ada.email, 'wrong horse battery', address);
      for (let count = 0; count < 5; count++) await tryAda();
      for (let count = 0; count < maximumAddressFailures; count++) {
        expect((await tryAda()).body.code).toBe('RATE_LIMIT_HIT');
      }
      const bob = await newPerson();
      await test.server.database.write(({ db }) => storePassword(db, bob.userId, cheapHash));
      expect((await signIn(bob.email, password, address)).status).toBe(200);
    });

    it('is forgotten after half an hour', async () => {
      const rows = await watchFailures();
      await fail('forgotten@example.com');
      expect(JSON.stringify(await rows())).not.toContain('forgotten');
      expect(await rows()).toHaveLength(1);
      test.now += 30 * minute;
      await test.stop();
      await test.boot();
      await test.settle();
      expect(await rows()).toEqual([]);
    });
  });
});

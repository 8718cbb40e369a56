import { AsyncLocalStorage } from 'node:async_hooks';
import { Secret } from '@waxwing/service/config';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { deactivateByAddress } from '#server/membership/user-administration/change-activity.js';
import { setPassword } from '#server/membership/user-administration/set-password.js';
import { observeQueries } from '../../../support/observe-queries.js';
import { eachBackend } from '../../../support/test-databases.js';
import { type Account, type Answer, ServerUnderTest } from '../server-under-test.js';

const password = 'correct horse battery';
let people = 0;

eachBackend((backend) => {
  let test: ServerUnderTest;
  let ada: Account;
  beforeAll(async () => {
    test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl(), withoutRelay: true });
  });
  afterAll(() => test.close());
  beforeEach(async () => {
    people += 1;
    ada = await test.addAccount(`ada${people}@example.com`);
    const { database } = test.server;
    await setPassword(
      database,
      () => test.now,
      ada.email,
      async () => new Secret(password),
    );
  });

  describe('a sign-in', () => {
    const again = 'another horse battery';

    /** Signs in, and runs `meanwhile` after the server has read the stored password hash. */
    async function signInBeside(meanwhile: () => Promise<unknown>): Promise<Answer> {
      const { database } = test.server;
      let isRead = false;
      const stop = observeQueries(database.db, ({ sql }) => {
        if (/^select .*"passwords"\."hash"/.test(sql)) isRead = true;
      });
      const write = database.write.bind(database);
      const ownWrites = new AsyncLocalStorage<true>();
      let changed: Promise<unknown> | undefined;
      // Delays all other writes, because a job of the server may write before the sign-in does.
      const spy = vi.spyOn(database, 'write').mockImplementation(async (work) => {
        if (isRead && ownWrites.getStore() === undefined) {
          changed ??= ownWrites.run(true, meanwhile);
          await changed;
        }
        return write(work);
      });
      try {
        return await test.ask(undefined, 'POST', 'fetch_api_key', { username: ada.email, password });
      } finally {
        stop();
        spy.mockRestore();
      }
    }

    const keysOf = async () =>
      (
        await test.server.database.db
          .selectFrom('sign_in_keys')
          .selectAll()
          .where('user_id', '=', ada.userId)
          .execute()
      ).length;

    it.each([
      [
        'an operator replaces the password',
        () =>
          setPassword(
            test.server.database,
            () => test.now,
            ada.email,
            async () => new Secret(again),
          ),
      ],
      [
        'the user replaces the password',
        async () => {
          const fields = { old_password: password, new_password: again };
          expect((await test.ask(ada, 'PATCH', 'settings', fields)).status).toBe(200);
        },
      ],
      ['the user is deactivated', () => deactivateByAddress(test.server.database, () => test.now, ada.email)],
    ])('is refused and leaves no key if meanwhile %s', async (_case, meanwhile) => {
      const { status, body } = await signInBeside(meanwhile);
      expect([status, body.code, await keysOf()]).toEqual([401, 'AUTHENTICATION_FAILED', 0]);
    });

    it('succeeds if nothing changes meanwhile', async () => {
      const { status } = await signInBeside(async () => undefined);
      expect([status, await keysOf()]).toEqual([200, 1]);
    });
  });
});

import type { UserId } from '@waxwing/protocol';
import type { Transaction } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { storeInactive } from '#server/people/users/user-store.js';
import { storeApiKeyHash } from '#server/platform/authentication/credential-store.js';
import type { ServerTables } from '#server/tables.js';
import { ServerUnderTest, testPhone } from '../apps/server/server-under-test.js';
import { lockWaiters } from '../support/lock-waiters.js';
import { eachBackend } from '../support/test-databases.js';

type Change = (db: Transaction<ServerTables>, userId: UserId) => Promise<unknown>;

eachBackend((backend) => {
  /**
   * Sends a registration and changes its user after authentication. Returns the response and the devices afterwards.
   */
  async function registerBeside(change: Change): Promise<unknown> {
    const test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl() });
    try {
      const { database } = test.server;
      const ada = await test.addAccount('ada@example.com');
      const write = vi.spyOn(database, 'writeBatched');
      const answer = await database.db.transaction().execute(async (db) => {
        await change(db, ada.userId);
        const before = write.mock.calls.length;
        const answering = test.register(ada, testPhone('1').fields);
        await expect.poll(() => write.mock.calls.length, { timeout: 20_000 }).toBeGreaterThan(before);
        if (backend.name === 'postgres') {
          const count = () => lockWaiters(database.db, 'select % from "users" %');
          await expect.poll(count, { timeout: 20_000 }).toBe(1);
        }
        return { answering };
      });
      const { status, body } = await answer.answering;
      const devices = await database.db.selectFrom('push_devices').select('user_id').execute();
      return { status, code: body.code, devices };
    } finally {
      await test.close();
    }
  }

  describe('a registration of a device', () => {
    const refusal = { status: 401, code: 'INVALID_API_KEY', devices: [] };

    it('is refused if the user is removed after authentication', async () => {
      expect(await registerBeside(storeInactive)).toEqual(refusal);
    });

    it('is refused if the user gets another API key after authentication', async () => {
      expect(await registerBeside((db, userId) => storeApiKeyHash(db, userId, 'another'))).toEqual(refusal);
    });
  });
});

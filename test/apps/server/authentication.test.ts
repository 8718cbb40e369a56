import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deactivateByAddress } from '#server/membership/user-administration/change-activity.js';
import { observeQueries } from '../../support/observe-queries.js';
import { eachBackend } from '../../support/test-databases.js';
import { type Account, ServerUnderTest } from './server-under-test.js';

eachBackend((backend) => {
  let test: ServerUnderTest;
  let ada: Account;
  beforeEach(async () => {
    test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl() });
    ada = await test.addAccount('ada@example.com');
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    await test.close();
  });

  const authorization = (email: string, key: string) =>
    `Basic ${Buffer.from(`${email}:${key}`).toString('base64')}`;

  const ask = (email: string, key: string) =>
    test.send({
      method: 'POST',
      url: '/api/v1/register',
      headers: { authorization: authorization(email, key) },
    });

  /** The server's work for a request: SQL statements with their row counts, and hash comparisons. */
  async function workFor(email: string, key: string) {
    const statements: unknown[] = [];
    const stop = observeQueries(test.server.database.db, ({ sql, rows }) => {
      // Background jobs poll the database at the same time.
      if (sql.includes('"users"')) statements.push([sql, rows.length, Object.keys(rows[0] ?? {}).length]);
    });
    const spies = [vi.spyOn(crypto, 'timingSafeEqual'), vi.spyOn(crypto, 'hash')] as const;
    syncBuiltinESMExports();
    const answer = await ask(email, key);
    const compared = spies[0].mock.calls.map(([one, other]) => [one.byteLength, other.byteLength]);
    const hashed = spies[1].mock.calls.map(([algorithm]) => algorithm);
    stop();
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
    return { status: answer.status, body: answer.body, statements, compared, hashed };
  }

  describe('an authentication failure', () => {
    it('costs the same work and gets the same response for a known, an unknown and a deactivated address', async () => {
      const bob = await test.addAccount('bob@example.com');
      await deactivateByAddress(test.server.database, () => test.now, bob.email);
      const known = await workFor(ada.email, 'f'.repeat(64));
      expect(known).toMatchObject({
        status: 401,
        body: { code: 'INVALID_API_KEY' },
        statements: [[expect.stringContaining('"users"'), 1, expect.any(Number)]],
        compared: [[32, 32]],
        hashed: ['sha256', 'sha256'],
      });
      expect(await workFor('nobody@example.com', 'f'.repeat(64))).toEqual(known);
      expect(await workFor(bob.email, bob.apiKey)).toEqual(known);
    });

    it('results from another user’s key, a part of the right key, and the hash of the right key', async () => {
      const bob = await test.addAccount('bob@example.com');
      const hash = crypto.createHash('sha256').update(ada.apiKey).digest('hex');
      for (const key of [bob.apiKey, ada.apiKey.slice(0, 16), hash, `${ada.apiKey} `]) {
        expect((await ask(ada.email, key)).status).toBe(401);
      }
      expect((await ask('nobody@example.com', ada.apiKey)).status).toBe(401);
      // The server's source code contains this preimage of the hash that it compares for unknown users.
      const nobodys = 'the hash that is compared with when there is no such name';
      expect((await ask('nobody@example.com', nobodys)).status).toBe(401);
      expect((await ask('ADA@example.com', ada.apiKey)).status).toBe(200);
    });
  });
});

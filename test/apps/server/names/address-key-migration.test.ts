import type { Kysely } from 'kysely';
import { expect, it } from 'vitest';
import { renewAddressKeys } from '#server/people/users/user-tables.js';
import { eachBackend } from '../../../support/test-databases.js';
import { ServerUnderTest } from '../server-under-test.js';

eachBackend((backend) => {
  it('users whose address was stored by an earlier rule are found again, and no two active users share a key', async () => {
    const test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl() });
    const { db } = test.server.database;
    const rename = (id: number, email: string, is_active = 1) =>
      db
        .updateTable('users')
        .set({ email, email_lower: email.toLowerCase(), is_active })
        .where('id', '=', id as never)
        .execute();
    const [ada, twin, gone] = [
      await test.addAccount('ada@example.com'),
      await test.addAccount('twin@example.com'),
      await test.addAccount('gone@example.com'),
    ];
    await rename(ada.userId, 'Ada@xn--mnchen-3ya.de');
    await rename(twin.userId, 'ada@münchen.de');
    await rename(gone.userId, 'Gone@xn--mnchen-3ya.de', 0);
    await test.server.database.write(({ db: transaction }) =>
      renewAddressKeys(transaction as unknown as Kysely<unknown>),
    );
    const keys = await db.selectFrom('users').select(['id', 'email_lower']).orderBy('id').execute();
    const keyOf = (id: number) => keys.find((row) => row.id === id)?.email_lower;
    // The twin already has the new key for Ada's address. Ada keeps her old key, so that keys stay unique.
    expect([keyOf(ada.userId), keyOf(twin.userId), keyOf(gone.userId)]).toEqual([
      'ada@xn--mnchen-3ya.de',
      'ada@münchen.de',
      'gone@münchen.de',
    ]);
    await rename(twin.userId, 'twin@example.com');
    await test.server.database.write(({ db: transaction }) =>
      renewAddressKeys(transaction as unknown as Kysely<unknown>),
    );
    const credentials = Buffer.from(`ada@xn--mnchen-3ya.de:${ada.apiKey}`).toString('base64');
    const { status } = await test.ask({ ...ada, authorization: `Basic ${credentials}` }, 'GET', 'users/me');
    expect(status).toBe(200);
    await test.close();
  });
});

import { type Kysely, sql } from 'kysely';
import { expect, it } from 'vitest';
import { addNameKeys } from '#server/people/users/user-tables.js';
import { eachBackend } from '../../../support/test-databases.js';
import { OrganisationUnderTest } from '../organisation-under-test.js';

eachBackend((backend) => {
  it('names that were stored before names had keys must also be unique', async () => {
    const organisation = new OrganisationUnderTest();
    await organisation.start(await backend.freshUrl());
    const { database } = organisation.server.server;
    await organisation.do('owner', 'PATCH', 'users/second@example.com', { full_name: 'Ada Lovelace' });
    await organisation.do('owner', 'PATCH', 'realm', { require_unique_names: true });
    await database.write(async ({ db }) => {
      await sql`drop index users_name_key`.execute(db);
      await sql`alter table users drop column name_key`.execute(db);
      await addNameKeys(db as unknown as Kysely<unknown>);
      // Simulates a later migration in the same transaction.
      await sql`alter table users add column later integer`.execute(db);
    });
    const taken = await organisation.ask('member', 'PATCH', 'settings', { full_name: 'ada lovelace' });
    expect([taken.status, taken.body.msg]).toEqual([
      400,
      'Unique names required in this organization: choose another name.',
    ]);
    await organisation.server.close();
  });
});

import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { observeQueries } from '../../../support/observe-queries.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const groups = 300;
/** Maximum groups per statement. Each group may have thousands of members, which are read and written with it. */
const mostPerStatement = 25;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  describe('a list of many groups', () => {
    it('is read in small pages, and has each group once', async () => {
      const { database } = organisation.server.server;
      const numbers = Array.from({ length: groups }, (_, index) => ({ number: index }));
      await database.write(({ db }) =>
        sql`insert into user_groups (name, name_lower, description, is_system, is_active, created_at)
          select 'group ' || v.number, 'group ' || v.number, '', 0, 1, 0
          from ${rowsAsTable(db, 'v', { number: 'integer' }, numbers)} order by v.number`.execute(db),
      );
      let most = 0;
      const stop = observeQueries(database.db, ({ sql: query, rows }) => {
        if (/from "user_groups"/.test(query)) most = Math.max(most, rows.length);
      });
      const { user_groups } = await organisation.do('member', 'GET', 'user_groups');
      stop();
      const names = (user_groups as { name: string }[]).map(({ name }) => name);
      const expected = numbers.map(({ number }) => `group ${number}`);
      expect(names.filter((name) => name.startsWith('group '))).toEqual(expected);
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThanOrEqual(mostPerStatement);
    });
  });
});

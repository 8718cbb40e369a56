import { describe, expect, it } from 'vitest';
import { type ServerTables, serverMigrations } from '#server/tables.js';
import { eachBackend } from '../../../support/test-databases.js';

/** The server's steps as they were before there were groups. */
const formerMigrations = serverMigrations.map(({ unit, migrations }) => ({
  unit,
  migrations: Object.fromEntries(
    Object.entries(migrations).filter(([name]) => unit !== 'server' || name < '0003'),
  ),
}));

eachBackend((backend) => {
  describe('a database from before there were groups', () => {
    it('opens, and its users are in the groups of their roles', async () => {
      const url = await backend.freshUrl();
      const former = await backend.open<ServerTables>({ migrations: formerMigrations, url });
      const user = (role: number, is_active: number) => ({
        email: `${role}-${is_active}@example.com`,
        email_lower: `${role}-${is_active}@example.com`,
        full_name: 'Somebody',
        ...{ role, is_active, is_bot: 0, bot_owner_id: null, api_key_hash: 'digest', created_at: 1 },
      });
      for (const role of [100, 400, 600]) {
        await former.db
          .insertInto('users')
          .values([user(role, 1), user(role, 0)])
          .execute();
      }
      await former.close();
      const { db } = await backend.open<ServerTables>({ migrations: serverMigrations, url });
      const rows = await db
        .selectFrom('user_group_members')
        .innerJoin('user_groups', 'user_groups.id', 'user_group_members.group_id')
        .innerJoin('users', 'users.id', 'user_group_members.user_id')
        .select(['user_groups.name', 'users.email'])
        .orderBy('user_groups.id')
        .orderBy('users.id')
        .execute();
      expect(rows.map(({ name, email }) => `${name} ${email}`)).toEqual([
        'role:owners 100-1@example.com',
        'role:owners 100-0@example.com',
        'role:fullmembers 400-1@example.com',
        'role:fullmembers 400-0@example.com',
        'role:members 400-1@example.com',
        'role:members 400-0@example.com',
        'role:everyone 600-1@example.com',
        'role:everyone 600-0@example.com',
      ]);
    });
  });
});

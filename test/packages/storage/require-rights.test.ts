import { addIdColumn, openDatabase, requireRights } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { eachPostgres } from '../../support/test-databases.js';

const migrations = [
  {
    unit: 'jobs',
    migrations: {
      '0001-birds': {
        up: (db: Kysely<unknown>) => addIdColumn(db, db.schema.createTable('birds')).execute(),
      },
    },
  },
];

eachPostgres((backend) => {
  let owner: string;
  let user: string;
  let url: string;
  let run: (statement: string) => Promise<unknown>;

  beforeEach(async () => {
    owner = await backend.freshUrl();
    user = `waxwing_rights_${process.pid}_${Date.now()}`;
    const database = await openDatabase<unknown>({
      url: owner,
      migrations,
      role: 'visiting',
      remedyIfMissing: undefined,
      onError: expect.fail,
    });
    run = (statement) => sql.raw(statement).execute(database.db);
    await run(`create role ${user} login`);
    await run('revoke create on schema public from public');
    const asUser = new URL(owner);
    asUser.username = user;
    url = asUser.href;
    onTestFinished(async () => {
      await run(`drop owned by ${user}`);
      await run(`drop role ${user}`);
      await database.close();
    });
  });

  const problemOf = (needed: Parameters<typeof requireRights>[1]) =>
    requireRights(url, needed).then(
      () => undefined,
      (error: Error) => error.message,
    );
  const upToDate = { migrates: false, counters: ['birds'] };

  it('names the rights that a user who does not own the tables lacks, until all are granted', async () => {
    expect(await problemOf(upToDate)).toContain(
      `run "grant select, insert, update, delete on all tables in schema public to ${user}; grant select, update on sequence birds_id_seq to ${user}"`,
    );
    await run(`grant select on all tables in schema public to ${user}`);
    expect(await problemOf(upToDate)).toContain('on all tables');
    await run(`grant insert, update, delete on birds to ${user}`);
    await run(`grant usage on sequence birds_id_seq to ${user}`);
    expect(await problemOf(upToDate)).toContain(
      `run "grant select, update on sequence birds_id_seq to ${user}"`,
    );
    expect(await problemOf({ migrates: false, counters: [] })).toBeUndefined();
    await run(`grant select, update on sequence birds_id_seq to ${user}`);
    expect(await problemOf(upToDate)).toBeUndefined();
  });

  it('accepts a user without rights on sequences that only inserts use', async () => {
    await run(`grant select, insert, update, delete on birds to ${user}`);
    expect(await problemOf({ migrates: false, counters: [] })).toBeUndefined();
    const database = await openDatabase<{ birds: { id: number } }>({
      url,
      migrations: [],
      role: 'helping',
      onError: expect.fail,
    });
    onTestFinished(() => database.close());
    const { rows } = await sql`insert into birds default values returning id`.execute(database.db);
    expect(rows).toHaveLength(1);
  });

  it('requires no rights on tables of another owner', async () => {
    await run(`grant all on all tables in schema public to ${user}`);
    await run(`grant all on all sequences in schema public to ${user}`);
    const other = `waxwing_other_${process.pid}`;
    await run(`create role ${other}`);
    await run('create table places (name text)');
    await run(`alter table places owner to ${other}`);
    const problem = await problemOf(upToDate);
    await run(`drop owned by ${other}`);
    await run(`drop role ${other}`);
    expect(problem).toBeUndefined();
  });

  it('reports that a migration needs the owner, and that sessions may only read', async () => {
    const migrating = { migrates: true, counters: [] };
    expect(await problemOf(migrating)).toContain(`The user "${user}" may not make or change the tables`);
    await expect(requireRights(owner, migrating)).resolves.toBeUndefined();
    await run(`alter role ${user} set default_transaction_read_only to on`);
    expect(await problemOf(upToDate)).toContain('default_transaction_read_only is on: set it to off');
  });
});

// Preloaded into a program. Appends a migration to the last list of migrations, as the next version could. The
// migration adds two columns to every table, and creates a new table.
import { sql } from 'kysely';

const [, program = ''] = process.argv;
const name = /waxwing-(relay|server)/.exec(program)?.[1];
if (name !== undefined) {
  const tables = await import(new URL(`../../../apps/${name}/dist/tables.js`, import.meta.url));
  const { migrations } = tables[`${name}Migrations`].at(-1);
  migrations['9999-next'] = { up: expand };
}

async function expand(db) {
  for (const { name: table } of await db.introspection.getTables()) {
    await sql`alter table ${sql.table(table)} add column next_text text`.execute(db);
    await sql`alter table ${sql.table(table)} add column next_number integer not null default 1`.execute(db);
  }
  await sql`create table next_things (id integer not null)`.execute(db);
}

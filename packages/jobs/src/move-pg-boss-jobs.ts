import { DatabaseUnusableError } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';

/**
 * Takes over the jobs that pg-boss kept in this database for versions before 0.1.0, and removes its schema: a process
 * of such a version that still runs fails from then on, instead of adding jobs that nobody does.
 * @throws DatabaseUnusableError when the schema holds jobs of another program.
 */
export async function movePgBossJobs(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('pgboss.job') is not null as exists`.execute(db);
  if (rows[0]?.exists !== true) return;
  await sql`lock table pgboss.job in access exclusive mode`.execute(db);
  const foreign = await sql<{ name: string }>`
    select name from pgboss.job where state <= 'active' and (data -> 'giveUpAt') is null limit 1`.execute(db);
  const name = foreign.rows[0]?.name;
  if (name !== undefined) {
    throw new DatabaseUnusableError(
      `the schema "pgboss" holds jobs of another program (in the queue ${name}); let that program have a database of its own`,
    );
  }
  await sql`
    insert into jobs (kind, payload, created_at, run_at, give_up_at, attempt, last_reason)
    select name, data ->> 'payload', (data ->> 'createdAt')::bigint,
      (extract(epoch from start_after) * 1000)::bigint, (data ->> 'giveUpAt')::bigint,
      (data ->> 'attempts')::bigint + retry_count + case when started_on is null then 0 else 1 end,
      data ->> 'reason'
    from pgboss.job where state <= 'active' order by (data ->> 'createdAt')::bigint, id`.execute(db);
  await sql`drop schema pgboss cascade`.execute(db);
}

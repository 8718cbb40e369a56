import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { settleFullMembers } from '#server/people/realm/settle-full-members.js';
import type { EventsToPublish } from '#server/platform/event-queues/published-event.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const dayMilliseconds = 24 * 60 * 60_000;
const settlingUsers = 1200;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  it('many members are promoted in transactions of few users, and the job stops when the server stops', async () => {
    const { database } = organisation.server.server;
    await organisation.do('owner', 'PATCH', 'realm', { waiting_period_threshold: 3 });
    await database.write(({ db }) =>
      sql`
        insert into users (email, email_lower, full_name, role, is_bot, api_key_hash, is_active, created_at)
        select 'new' || v.number || '@example.com', 'new' || v.number || '@example.com', 'New ' || v.number, 400, 0,
          'none', 1, cast(${organisation.server.now} as bigint)
        from ${
          database.kind === 'postgres'
            ? sql`generate_series(1, ${sql.lit(settlingUsers)}) as v (number)`
            : sql`(
                with recursive v (number) as (select 1 union all select number + 1 from v where number < ${settlingUsers})
                select number from v
              ) as v`
        }`.execute(db),
    );
    const promoted: number[] = [];
    const stop = new AbortController();
    const context = {
      clock: () => organisation.server.now + 4 * dayMilliseconds,
      database,
      async publish(_transaction: unknown, events: EventsToPublish) {
        if ('build' in events) throw new Error('the events have a fixed audience');
        const fullMembers = events.filter(
          ({ event }) => event.op === 'add_members' && event.group_id === groupId,
        );
        promoted.push(...fullMembers.map(({ event }) => (event.user_ids as number[]).length));
        if (promoted.length === 2) stop.abort();
      },
    };
    const groupId = await organisation.roleGroup('fullmembers');
    await settleFullMembers(context, stop.signal);
    expect(promoted).toHaveLength(2);
    await settleFullMembers(context, new AbortController().signal);
    expect(Math.max(...promoted)).toBeLessThanOrEqual(500);
    expect(promoted.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(settlingUsers);
  });
});

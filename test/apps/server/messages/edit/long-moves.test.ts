import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { messageProblems } from '../../../../support/check-messages.js';
import { observeQueries } from '../../../../support/observe-queries.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel } from '../chat-under-test.js';
import { post } from './moves-under-test.js';

const moved = 2500;
const messagesPerStatement = 1000;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  it('a move of a long topic moves all messages, and on SQLite at most a thousand per statement', async () => {
    const from = await addChannel(organisation, { members: ['member', 'owner'] });
    const to = await addChannel(organisation, { isPrivate: true, members: ['member'] });
    const [first = 0] = await post(organisation, { channelId: from.id });
    const { database } = organisation.server.server;
    await database.write(async ({ db }) => {
      const { id: _, ...row } = await db.selectFrom('messages').selectAll().executeTakeFirstOrThrow();
      const rows = Array.from({ length: moved - 1 }, () => row);
      for (let start = 0; start < rows.length; start += 500)
        await db
          .insertInto('messages')
          .values(rows.slice(start, start + 500))
          .execute();
      await sql`
        insert into user_messages (user_id, message_id, flags)
        select cast(${organisation.id('owner')} as bigint), id, 1 from messages where channel_id = ${from.id}
        on conflict do nothing`.execute(db);
    });
    const read = await organisation.watch('owner', {
      client_capabilities: '{"notification_settings_null":true,"bulk_message_deletion":true}',
    });
    let most = 0;
    const stop = observeQueries(database.db, ({ parameters, rows }) => {
      most = Math.max(most, rows.length, ...parameters.map(idsIn));
    });
    const move = { stream_id: to.id, topic: 'elsewhere', propagate_mode: 'change_all' };
    try {
      await organisation.do('member', 'PATCH', `messages/${first}`, {
        ...move,
        send_notification_to_new_thread: false,
      });
    } finally {
      stop();
    }
    const { db } = database;
    const topics = await db
      .selectFrom('messages')
      .select(['channel_id', 'topic', ({ fn }) => fn.countAll<number>().as('count')])
      .groupBy(['channel_id', 'topic'])
      .execute();
    expect(topics.map(({ count, ...topic }) => ({ ...topic, count: Number(count) }))).toEqual([
      { channel_id: to.id, topic: 'elsewhere', count: moved },
    ]);
    expect(await read()).toMatchObject([{ type: 'delete_message', message_ids: { length: moved } }]);
    expect(await messageProblems(db)).toEqual([]);
    if (backend.name === 'sqlite') expect(most).toBeLessThanOrEqual(messagesPerStatement);
  });
});

/** The number of ids in a parameter, if it is a JSON array of ids. */
function idsIn(parameter: unknown): number {
  return typeof parameter === 'string' && /^\[\d/.test(parameter) ? parameter.split(',').length : 0;
}

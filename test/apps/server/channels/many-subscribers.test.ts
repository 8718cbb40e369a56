import type { ChannelId, GroupId, UserId } from '@waxwing/protocol';
import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countSubscribers, readSubscribers } from '#server/conversations/channels/channel-subscribers.js';
import { listGroups } from '#server/people/groups/group-store.js';
import { membersPerPiece } from '#server/people/permissions/member-lists.js';
import { observeQueries } from '../../../support/observe-queries.js';
import { eachBackend } from '../../../support/test-databases.js';
import { ServerUnderTest } from '../server-under-test.js';

/**
 * Number of users in each channel and group, in the order of their ids. The first channel ends exactly at a batch
 * boundary.
 */
const sizes = [membersPerPiece, 3, 2 * membersPerPiece + 1, 0, membersPerPiece - 1];
const users = Math.max(...sizes);

eachBackend((backend) => {
  describe('the members of large channels and groups', () => {
    let test: ServerUnderTest;
    let userIds: UserId[];
    let channelIds: ChannelId[];
    let groupIds: GroupId[];

    beforeAll(async () => {
      test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl(), withoutRelay: true });
      const { database } = test.server;
      const number = (index: number) => ({ number: index });
      const numbers = (length: number) => Array.from({ length }, (_, index) => number(index));
      await database.write(async ({ db }) => {
        const added = await sql<{ id: UserId }>`
          insert into users (email, email_lower, full_name, role, is_bot, api_key_hash, is_active, created_at)
          select 'user' || v.number || '@example.com', 'user' || v.number || '@example.com', 'User ' || v.number,
            400, 0, 'none', case when v.number = ${users} then 0 else 1 end, 0
          from ${rowsAsTable(db, 'v', { number: 'integer' }, numbers(users + 1))} returning id`.execute(db);
        // The last of these users is deactivated.
        userIds = added.rows.map(({ id }) => id).sort((a, b) => a - b);
        const channels = await sql<{ id: ChannelId }>`
          insert into channels (name, name_lower, description, rendered_description, topics_policy, is_private,
            is_web_public, is_history_public, is_default, is_archived, created_at)
          select 'channel ' || v.number, 'channel ' || v.number, '', '', 'inherit', 0, 0, 1, 0, 0, 0
          from ${rowsAsTable(db, 'v', { number: 'integer' }, numbers(sizes.length))} returning id`.execute(
          db,
        );
        channelIds = channels.rows.map(({ id }) => id).sort((a, b) => a - b);
        const groups = await sql<{ id: GroupId }>`
          insert into user_groups (name, name_lower, description, is_system, is_active, created_at)
          select 'group ' || v.number, 'group ' || v.number, '', 0, 1, 0
          from ${rowsAsTable(db, 'v', { number: 'integer' }, numbers(sizes.length))} returning id`.execute(
          db,
        );
        groupIds = groups.rows.map(({ id }) => id).sort((a, b) => a - b);
        for (const [index, size] of sizes.entries()) {
          const members = sql`(select id from users where is_active = 1 and email_lower like 'user%' order by id limit ${size})`;
          await sql`
            insert into subscriptions (channel_id, user_id, is_active, color, is_muted, pin_to_top)
            select cast(${channelIds[index]} as bigint), id, 1, '#76ce90', 0, 0 from ${members} as member
            union all select cast(${channelIds[index]} as bigint), cast(${userIds.at(-1)} as bigint), 1, '#76ce90', 0, 0`.execute(
            db,
          );
          await sql`
            insert into user_group_members (group_id, user_id)
            select cast(${groupIds[index]} as bigint), id from ${members} as member`.execute(db);
        }
      });
    }, 120_000);
    afterAll(() => test.close());

    const expected = () => sizes.map((size) => userIds.slice(0, size));

    it('are each listed and counted once, without deactivated users', async () => {
      const { db } = test.server.database;
      const [lists, counts] = [await readSubscribers(db, channelIds), await countSubscribers(db, channelIds)];
      expect(channelIds.map((id) => lists.get(id) ?? [])).toEqual(expected());
      expect(channelIds.map((id) => counts.get(id) ?? 0)).toEqual(sizes);
      expect((await listGroups(db, groupIds)).map(({ memberIds }) => memberIds)).toEqual(expected());
    });

    it('are read by statements of a bounded size on SQLite, and by one statement on PostgreSQL', async () => {
      const { db } = test.server.database;
      const read: number[] = [];
      const stop = observeQueries(db, ({ rows }) => {
        const counted = rows as readonly { readonly members?: number }[];
        // Ignores queries of other work in this process.
        if (counted[0]?.members === undefined) return;
        read.push(counted.reduce((sum, { members }) => sum + Number(members), 0));
      });
      await readSubscribers(db, channelIds).finally(stop);
      const all = sizes.reduce((sum, size) => sum + size, 0);
      expect(read.reduce((sum, members) => sum + members, 0)).toBe(all);
      expect(Math.max(...read)).toBe(backend.name === 'sqlite' ? membersPerPiece : all);
    });

    it('are the same in the lists of channels, subscriptions and groups', async () => {
      const ada = await test.addAccount('ada@example.com');
      const { body: streams } = await test.ask(ada, 'GET', 'streams');
      const counted = streams.streams as readonly { stream_id: ChannelId; subscriber_count: number }[];
      expect(counted.map(({ stream_id, subscriber_count }) => [stream_id, subscriber_count])).toEqual(
        channelIds.map((id, index) => [id, sizes[index]]),
      );
      const { body: groups } = await test.ask(ada, 'GET', 'user_groups');
      const listed = groups.user_groups as readonly { id: GroupId; members: UserId[] }[];
      expect(groupIds.map((id) => listed.find((group) => group.id === id)?.members)).toEqual(expected());
      const { body: state } = await test.ask(ada, 'POST', 'register', { include_subscribers: 'true' });
      const unjoined = state.never_subscribed as readonly { subscribers: UserId[] }[];
      expect(unjoined.map(({ subscribers }) => subscribers)).toEqual(expected());
      expect(state.subscriptions).toEqual([]);
    });
  });
});

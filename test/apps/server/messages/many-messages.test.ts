import type { ChannelId } from '@waxwing/protocol';
import { expect, it, vi } from 'vitest';
import { messageId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addChannel, subscribe } from './chat-under-test.js';
import { post } from './edit/moves-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  it('a response with many messages is streamed in chunks, without gaps', async () => {
    const { id: channelId } = await addChannel(organisation, { members: ['member'] });
    const [first = 0] = await post(organisation, { channelId });
    const { db } = organisation.server.server.database;
    const { id: _, ...row } = await db.selectFrom('messages').selectAll().executeTakeFirstOrThrow();
    for (let count = 0; count < 449; count++) await db.insertInto('messages').values(row).execute();
    const ids = Array.from({ length: 450 }, (_, index) => first + index);
    const ask = async (fields: Record<string, unknown>) => {
      const narrow = [['channel', channelId]];
      const { messages, ...rest } = await organisation.do('member', 'GET', 'messages', { narrow, ...fields });
      return { ids: (messages as { id: number }[]).map(({ id }) => id), rest };
    };
    const success = { result: 'success', msg: '', history_limited: false };
    expect(await ask({ anchor: first + 10, num_before: 5, num_after: 400 })).toEqual({
      ids: ids.slice(5, 411),
      rest: { ...success, anchor: first + 10, found_anchor: true, found_oldest: false, found_newest: false },
    });
    expect(await ask({ anchor: 'oldest', num_before: 0, num_after: 5000 })).toEqual({
      ids,
      rest: { ...success, anchor: 0, found_anchor: false, found_oldest: true, found_newest: true },
    });
    const unordered = [...ids].reverse();
    expect(await ask({ message_ids: [...unordered, first] })).toEqual({
      ids,
      rest: { ...success, found_anchor: false, found_oldest: false, found_newest: false },
    });
  });

  it.each([
    [
      'is unsubscribed from the channel',
      (channelId: ChannelId) => subscribe(organisation, channelId, organisation.id('second'), false),
    ],
    ['is deactivated', () => organisation.do('owner', 'DELETE', `users/${organisation.id('second')}`)],
  ])('a user who %s while messages are streamed gets no further chunks', async (_, lose) => {
    const { id: channelId } = await addChannel(organisation, {
      members: ['member', 'second'],
      isPrivate: true,
      isHistoryPublic: true,
    });
    const [first = 0] = await post(organisation, { channelId });
    const { db } = organisation.server.server.database;
    const { id: __, ...row } = await db
      .selectFrom('messages')
      .selectAll()
      .where('id', '=', messageId(first))
      .executeTakeFirstOrThrow();
    for (let count = 0; count < 300; count++) await db.insertInto('messages').values(row).execute();
    const executor = Object.getPrototypeOf(Object.getPrototypeOf(db.getExecutor()));
    const execute = executor.executeQuery;
    let losing: Promise<unknown> | undefined;
    const queries = vi.spyOn(executor, 'executeQuery').mockImplementation(async function (
      this: unknown,
      query,
    ) {
      const result = await execute.call(this, query);
      // The first chunk is read from the database but not sent yet.
      if (losing === undefined && result.rows[0]?.rendered_content !== undefined) {
        losing = lose(channelId);
        await losing;
      }
      return result;
    });
    const narrow = [['channel', channelId]];
    const asked = { narrow, anchor: 'oldest', num_after: 1000 };
    const { messages } = await organisation.do('second', 'GET', 'messages', asked);
    queries.mockRestore();
    const ids = (messages as { id: number }[]).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 200 }, (_, index) => first + index));
  });

  it.each([100, 1000])(
    'a response with up to %i long messages is streamed in chunks of at most 256 KiB',
    async (num_before) => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const [first = 0] = await post(organisation, { channelId });
      const { db } = organisation.server.server.database;
      const { id: _, ...row } = await db
        .selectFrom('messages')
        .selectAll()
        .where('id', '=', messageId(first))
        .executeTakeFirstOrThrow();
      const long = { ...row, rendered_content: 'x'.repeat(150_000) };
      for (let count = 0; count < 20; count++) await db.insertInto('messages').values(long).execute();
      const narrow = JSON.stringify([['channel', channelId]]);
      const query = new URLSearchParams({ anchor: 'newest', num_before: String(num_before), narrow });
      const { authorization } = organisation.accounts.member;
      const response = await organisation.server.server.app.inject({
        url: `/api/v1/messages?${query}`,
        headers: { authorization },
        payloadAsStream: true,
      });
      const pieces = await response.stream().toArray();
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(1.1 * 256 * 1024);
      const { messages, found_oldest } = JSON.parse(Buffer.concat(pieces).toString());
      const ids = messages.map(({ id }: { id: number }) => id);
      expect([ids, found_oldest]).toEqual([Array.from({ length: 21 }, (_, index) => first + index), true]);
    },
  );
});

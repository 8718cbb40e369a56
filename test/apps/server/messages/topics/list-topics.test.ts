import { expect, it } from 'vitest';
import { messageId } from '../../../../support/ids.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel, subscribe } from '../chat-under-test.js';
import { post } from '../edit/moves-under-test.js';

const most = 10_000;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  type Who = Parameters<typeof organisation.ask>[0];

  async function topicsFor(who: Who, channelId: number): Promise<{ name: string; max_id: number }[]> {
    const { topics } = await organisation.do(who, 'GET', `users/me/${channelId}/topics`);
    return topics as { name: string; max_id: number }[];
  }

  const send = (channelId: number, topic: string) =>
    organisation.do('member', 'POST', 'messages', { type: 'channel', to: channelId, topic, content: 'a' });

  it('the topic list has only topics of readable messages if history is protected', async () => {
    const { id } = await addChannel(organisation, { isPrivate: true, members: ['member'] });
    const { id: early } = await send(id, 'shared');
    await send(id, 'before');
    await subscribe(organisation, id, organisation.id('second'));
    expect(await topicsFor('second', id)).toEqual([]);
    const { id: late } = await send(id, 'after');
    expect(await topicsFor('second', id)).toEqual([{ name: 'after', max_id: late }]);
    expect((await topicsFor('member', id)).map(({ name }) => name)).toEqual(['after', 'before', 'shared']);
    const { id: again } = await send(id, 'Shared');
    expect(Number(again)).toBeGreaterThan(Number(early));
    expect((await topicsFor('second', id)).map(({ name }) => name)).toEqual(['Shared', 'after']);
  });

  it('the topic list has all topics for a new subscriber if history is shared', async () => {
    const { id } = await addChannel(organisation, {
      isPrivate: true,
      isHistoryPublic: true,
      members: ['member'],
    });
    await send(id, 'before');
    expect((await organisation.ask('second', 'GET', `users/me/${id}/topics`)).body.msg).toBe(
      'Invalid channel ID',
    );
    await subscribe(organisation, id, organisation.id('second'));
    expect((await topicsFor('second', id)).map(({ name }) => name)).toEqual(['before']);
  });

  it(`the topic list has at most the newest ${most} topics`, async () => {
    const { id: channelId } = await addChannel(organisation, { members: ['member'] });
    const [first = 0] = await post(organisation, { channelId });
    const { db } = organisation.server.server.database;
    const { id: _, ...row } = await db
      .selectFrom('messages')
      .selectAll()
      .where('id', '=', messageId(first))
      .executeTakeFirstOrThrow();
    const rows = Array.from({ length: most }, (_, index) => ({
      ...row,
      topic: `topic ${index}`,
      topic_lower: `topic ${index}`,
    }));
    for (let from = 0; from < most; from += 1000) {
      await db
        .insertInto('messages')
        .values(rows.slice(from, from + 1000))
        .execute();
    }
    const topics = await topicsFor('member', channelId);
    expect(topics).toHaveLength(most);
    expect([topics[0]?.name, topics.at(-1)]).toEqual([
      `topic ${most - 1}`,
      { name: 'topic 0', max_id: first + 1 },
    ]);
  });
});

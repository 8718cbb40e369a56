import { expect, it } from 'vitest';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel } from '../chat-under-test.js';
import { post } from './moves-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const content = 'look, @**topic**';

  it('an edit mentions the participants of the message’s new topic, including the senders of moved messages', async () => {
    const { id: channelId } = await addChannel(organisation, { members: ['owner', 'member', 'second'] });
    const mentioned = async (propagate_mode: string) => {
      const [quiet, busy] = [`quiet, ${propagate_mode}`, `busy, ${propagate_mode}`];
      const [id = 0] = await post(
        organisation,
        { channelId, topic: quiet },
        { channelId, topic: quiet, by: 'second' },
        { channelId, topic: busy, by: 'owner' },
      );
      await organisation.do('member', 'PATCH', `messages/${id}`, { content, topic: busy, propagate_mode });
      const flags = ['owner', 'member', 'second'] as const;
      const all = flags.map((who) => organisation.do(who, 'GET', `messages/${id}`));
      return (await Promise.all(all)).map(({ message }) =>
        (message as { flags: string[] }).flags.includes('topic_wildcard_mentioned'),
      );
    };
    expect(await mentioned('change_one')).toEqual([true, true, false]);
    expect(await mentioned('change_all')).toEqual([true, true, true]);
  });

  it('an edit can mention a topic with more than 15 participants only if the user may mention many users', async () => {
    const { id: channelId } = await addChannel(organisation, { members: ['member', 'owner'] });
    for (let count = 0; count < 16; count++) {
      const { userId } = await organisation.server.addAccount(`crowd${count}.${channelId}@example.com`);
      await organisation.server.server.database.db
        .updateTable('messages')
        .set({ sender_id: userId })
        .where('id', 'in', await post(organisation, { channelId, topic: 'busy' }))
        .execute();
    }
    const [id = 0, other = 0] = await post(
      organisation,
      { channelId, topic: 'quiet' },
      { channelId, topic: 'calm', by: 'owner' },
    );
    const ask = (fields: object) =>
      organisation.ask('member', 'PATCH', `messages/${id}`, { content, ...fields });
    for (const propagate_mode of ['change_one', 'change_all']) {
      const { body } = await ask({ topic: 'Busy', propagate_mode });
      expect(body.code).toBe('TOPIC_WILDCARD_MENTION_NOT_ALLOWED');
    }
    await organisation.do('member', 'PATCH', `messages/${id}`, { topic: 'busy' });
    expect((await ask({})).body.code).toBe('TOPIC_WILDCARD_MENTION_NOT_ALLOWED');
    expect((await ask({ topic: 'calm' })).status).toBe(200);
    const move = { content, topic: 'busy' };
    expect((await organisation.ask('owner', 'PATCH', `messages/${other}`, move)).status).toBe(200);
  });
});

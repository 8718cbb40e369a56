import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel } from '../chat-under-test.js';
import { post, stored, textsIn } from './moves-under-test.js';

const everyNotice = { send_notification_to_old_thread: true, send_notification_to_new_thread: true };

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  async function topicOf(topic: string, count: number) {
    const { id: channelId } = await addChannel(organisation, { members: ['member'] });
    const drafts = Array.from({ length: count }, () => ({ channelId, topic }));
    return { channelId, ids: await post(organisation, ...drafts) };
  }

  function move(id: number | undefined, topic: string, propagate_mode = 'change_all') {
    return organisation.do('member', 'PATCH', `messages/${id}`, { topic, propagate_mode, ...everyNotice });
  }

  describe('a topic whose letter case changes', () => {
    it.each([
      ['case only', 'Case Only'],
      ['ÉCOLE жук', 'école ЖУК'],
      ['✔ done', '✔ DONE'],
      ['x', 'X'],
    ])('does not count as moved from %j to %j, and gets no notice of a move', async (before, after) => {
      for (const mode of ['change_all', 'change_later', 'change_one']) {
        const { channelId, ids } = await topicOf(before, 2);
        await move(ids[0], after, mode);
        expect(await textsIn(organisation, channelId, after)).toEqual(['hello', 'hello']);
        const first = await stored(organisation, ids[0] ?? 0);
        expect([first?.topic, first?.last_moved_at]).toEqual([after, null]);
      }
    });

    it('counts as moved if the channel also changes', async () => {
      const { ids } = await topicOf('case only', 1);
      const { id: target } = await addChannel(organisation, { members: ['member'] });
      await organisation.do('owner', 'PATCH', `messages/${ids[0]}`, {
        topic: 'Case Only',
        stream_id: String(target),
      });
      expect((await textsIn(organisation, target, 'case only'))[1]).toContain('came from');
    });
  });

  describe.each([
    ['✔ lunch', 'lunch', 'opened this topic again'],
    ['lunch', '✔ lunch', 'resolved this topic'],
  ])('a move from %j to %j', (before, after, said) => {
    it('posts only an arrival notice for a part of the messages', async () => {
      for (const [mode, amount] of [
        ['change_one', 'One message'],
        ['change_later', '2 messages'],
      ] as const) {
        const { channelId, ids } = await topicOf(before, 3);
        await move(ids[1], after, mode);
        const [arrival] = (await textsIn(organisation, channelId, after)).slice(
          mode === 'change_one' ? 1 : 2,
        );
        expect(arrival).toContain('came from');
        expect(arrival).toContain(amount === 'One message' ? '[One message]' : amount);
        const left = await textsIn(organisation, channelId, before);
        expect(left.at(-1)).toContain(`${amount} went to`);
        expect([...left, arrival].join()).not.toContain(said);
      }
    });

    it('posts a notice about the whole topic when the last message moves', async () => {
      for (const mode of ['change_one', 'change_later', 'change_all']) {
        const { channelId, ids } = await topicOf(before, mode === 'change_one' ? 1 : 2);
        await move(ids[0], after, mode);
        const texts = await textsIn(organisation, channelId, after);
        expect(texts.at(-1)).toContain(said);
        expect(texts.join()).not.toContain('came from');
      }
    });
  });
});

import { describe, expect, it } from 'vitest';
import type { ServerTransaction } from '#server/tables.js';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { post } from '../messages/edit/moves-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const day = 24 * 60 * 60_000;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const addDormant = async (isPrivate = false) => {
    const channel = await addChannel(organisation, { isPrivate, members: ['member'] });
    await organisation.server.server.database.write(({ db }: ServerTransaction) =>
      db
        .updateTable('channels')
        .set({
          created_at: organisation.server.now - 400 * day,
          last_message_at: organisation.server.now - 181 * day,
        })
        .where('id', '=', channel.id)
        .execute(),
    );
    return channel;
  };
  const isActive = async (id: number) =>
    ((await organisation.do('member', 'GET', `streams/${id}`)).stream as Record<string, unknown>)
      .is_recently_active;
  const awakened = ({ id: stream_id, name }: { id: number; name: string }) => ({
    type: 'stream',
    op: 'update',
    stream_id,
    name,
    property: 'is_recently_active',
    value: true,
  });
  const watch = (who: 'member' | 'second' | 'guest') =>
    organisation.watch(who, { event_types: '["stream"]' });
  const send = (to: number) =>
    organisation.do('member', 'POST', 'messages', { type: 'channel', to, topic: 'a', content: 'a' });

  describe('a channel without messages for 180 days', () => {
    it('becomes active with the first message, and clients that can see it get one event', async () => {
      const channel = await addDormant();
      expect(await isActive(channel.id)).toBe(false);
      const [own, others, guests] = [await watch('member'), await watch('second'), await watch('guest')];
      await send(channel.id);
      await send(channel.id);
      expect(await own()).toEqual([awakened(channel)]);
      expect(await others()).toEqual([awakened(channel)]);
      expect(await guests()).toEqual([]);
      expect(await isActive(channel.id)).toBe(true);
    });

    it('publishes no event to clients that cannot see it', async () => {
      const channel = await addDormant(true);
      const [own, others] = [await watch('member'), await watch('second')];
      await send(channel.id);
      expect(await own()).toEqual([awakened(channel)]);
      expect(await others()).toEqual([]);
    });

    it.each([
      [60, true],
      [181 * 24 * 60 * 60, false],
    ])(
      'becomes active when a message that is %i seconds old moves there: %s',
      async (ageSeconds, isAwake) => {
        const channel = await addDormant();
        const from = await addChannel(organisation, { members: ['member'] });
        const [id = 0] = await post(organisation, { channelId: from.id, ageSeconds });
        const own = await watch('member');
        const move = { stream_id: channel.id, send_notification_to_new_thread: false };
        await organisation.do('owner', 'PATCH', `messages/${id}`, move);
        expect(await own()).toEqual(isAwake ? [awakened(channel)] : []);
        expect(await isActive(channel.id)).toBe(isAwake);
      },
    );
  });

  it('a new channel is active', async () => {
    const channel = await addChannel(organisation, { members: ['member'] });
    expect(await isActive(channel.id)).toBe(true);
    const own = await watch('member');
    await send(channel.id);
    expect(await own()).toEqual([]);
  });
});

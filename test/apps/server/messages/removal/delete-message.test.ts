import { afterEach, describe, expect, it } from 'vitest';
import { messageProblems } from '../../../../support/check-messages.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel, subscribe } from '../chat-under-test.js';
import { post, stored } from '../edit/moves-under-test.js';

const capable = {
  client_capabilities: '{"notification_settings_null":true,"bulk_message_deletion":true}',
};

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const db = () => organisation.server.server.database.db;
  afterEach(async () => {
    expect(await messageProblems(db())).toEqual([]);
  });

  type Who = Parameters<typeof organisation.ask>[0];
  const remove = async (who: Who, id: number) => {
    const { status, body } = await organisation.ask(who, 'DELETE', `messages/${id}`);
    return status === 200 ? 'done' : `${body.code}: ${body.msg}`;
  };
  const permission = async (name: string, group: string) =>
    organisation.do('owner', 'PATCH', 'realm', { [name]: { new: await organisation.roleGroup(group) } });
  const notAllowed = "BAD_REQUEST: You don't have permission to delete this message";
  const tooLate = 'BAD_REQUEST: The time limit for deleting this message has passed';

  describe('deleting a message', () => {
    it('removes the message for all its readers, and updates the channel’s first message', async () => {
      const { id: channelId, name } = await addChannel(organisation, { members: ['member', 'second'] });
      const [id = 0, next = 0] = await post(organisation, { channelId, topic: 'Lunch' }, { channelId });
      const [second, guest] = [
        await organisation.watch('second', capable),
        await organisation.watch('guest'),
      ];
      expect(await remove('member', id)).toBe('done');
      expect(await second()).toEqual([
        {
          type: 'stream',
          op: 'update',
          stream_id: channelId,
          name,
          property: 'first_message_id',
          value: next,
        },
        {
          type: 'delete_message',
          message_ids: [id],
          message_type: 'stream',
          stream_id: channelId,
          topic: 'lunch',
        },
      ]);
      expect(await guest()).toEqual([]);
      expect(await stored(organisation, id)).toBeUndefined();
      expect(await remove('member', id)).toBe('BAD_REQUEST: Invalid message(s)');
    });

    it('also deletes the edit history', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const [id = 0] = await post(organisation, { channelId });
      await organisation.do('member', 'PATCH', `messages/${id}`, { content: 'other' });
      expect(await remove('member', id)).toBe('done');
    });

    it('in a direct conversation notifies its participants', async () => {
      const [id = 0] = await post(organisation, { to: ['member', 'second'] });
      const [second, owner] = [await organisation.watch('second'), await organisation.watch('owner')];
      expect(await remove('owner', id)).toBe('BAD_REQUEST: Invalid message(s)');
      expect(await remove('member', id)).toBe('done');
      expect(await second()).toEqual([{ type: 'delete_message', message_id: id, message_type: 'private' }]);
      expect(await owner()).toEqual([]);
    });

    it('in a channel with protected history notifies users with a copy', async () => {
      const { id: channelId } = await addChannel(organisation, { isPrivate: true, members: ['member'] });
      const [id = 0] = await post(organisation, { channelId });
      await subscribe(organisation, channelId, organisation.id('second'));
      const second = await organisation.watch('second', { event_types: '["delete_message"]' });
      expect(await remove('member', id)).toBe('done');
      expect(await second()).toEqual([]);
    });

    it('of another user requires can_delete_any_message_group of the organization or the channel', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const [first = 0, second = 0, third = 0] = await post(
        organisation,
        { channelId },
        { channelId },
        { channelId },
      );
      expect(await remove('second', first)).toBe(notAllowed);
      expect(await remove('moderator', first)).toBe(notAllowed);
      expect(await remove('administrator', first)).toBe('done');
      await organisation.do('owner', 'PATCH', `streams/${channelId}`, {
        can_delete_any_message_group: {
          new: { direct_members: [organisation.id('second')], direct_subgroups: [] },
        },
      });
      expect(await remove('second', second)).toBe('done');
      await permission('can_delete_any_message_group', 'moderators');
      expect(await remove('moderator', third)).toBe('done');
      await permission('can_delete_any_message_group', 'administrators');
    });

    it('of one’s own requires can_delete_own_message_group, and is possible exactly until the limit', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const [id = 0, late = 0] = await post(
        organisation,
        { channelId, ageSeconds: 600 },
        { channelId, ageSeconds: 601 },
      );
      await permission('can_delete_own_message_group', 'administrators');
      expect(await remove('member', id)).toBe(notAllowed);
      await permission('can_delete_own_message_group', 'everyone');
      expect(await remove('member', late)).toBe(tooLate);
      expect(await remove('member', id)).toBe('done');
      expect(await remove('owner', late)).toBe('done');
    });

    it('of a bot is also allowed for its owner', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['bot'] });
      const [id = 0] = await post(organisation, { channelId, by: 'bot' });
      const owner = { bot_owner_id: organisation.id('second') };
      await db().updateTable('users').set(owner).where('id', '=', organisation.id('bot')).execute();
      expect(await remove('member', id)).toBe(notAllowed);
      expect(await remove('second', id)).toBe('done');
    });

    it('in an archived channel is refused', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'], isArchived: true });
      const [id = 0] = await post(organisation, { channelId });
      expect(await remove('owner', id)).toBe('BAD_REQUEST: Invalid message(s)');
    });
  });
});

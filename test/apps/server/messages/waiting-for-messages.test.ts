import type { ChannelId } from '@waxwing/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { messageProblems } from '../../../support/check-messages.js';
import { messageId } from '../../../support/ids.js';
import { whileLocked } from '../../../support/lock-waits.js';
import { eachPostgres } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addChannel } from './chat-under-test.js';
import { post, stored } from './edit/moves-under-test.js';

eachPostgres((postgres) => {
  const organisation = sharedOrganisation(postgres);
  const db = () => organisation.server.server.database.db;
  afterEach(async () => {
    expect(await messageProblems(db())).toEqual([]);
  });

  const copiesOf = async (id: number) =>
    (
      await db()
        .selectFrom('user_messages')
        .select('user_id')
        .where('message_id', '=', messageId(id))
        .execute()
    ).map(({ user_id }) => user_id);

  describe('setting a flag', () => {
    const star = (id: number) =>
      organisation.ask('moderator', 'POST', 'messages/flags', { messages: [id], op: 'add', flag: 'starred' });

    it('creates no copy of a message that is being deleted', async () => {
      const { id: channelId } = await addChannel(organisation);
      const [id = 0] = await post(organisation, { channelId });
      const answer = await whileLocked(
        db(),
        async (transaction) => {
          await transaction
            .updateTable('channels')
            .set({ first_message_id: null })
            .where('id', '=', channelId)
            .execute();
          await transaction.deleteFrom('user_messages').where('message_id', '=', messageId(id)).execute();
          await transaction.deleteFrom('messages').where('id', '=', messageId(id)).execute();
        },
        () => star(id),
      );
      expect(answer.body).toMatchObject({ code: 'BAD_REQUEST', msg: 'Invalid message(s)' });
      expect(await copiesOf(id)).toEqual([]);
    });

    it.each([
      [{ op: 'add', flag: 'starred' }, 400],
      [{ op: 'remove', flag: 'read' }, 200],
    ])('does not wait for a message that the user cannot read: %j', async (wish, status) => {
      const { id: hidden } = await addChannel(organisation, { isPrivate: true, members: ['member'] });
      const [id = 0] = await post(organisation, { channelId: hidden });
      let answered: number | undefined;
      await whileLocked(
        db(),
        (transaction) =>
          transaction
            .selectFrom('messages')
            .select('id')
            .where('id', '=', messageId(id))
            .forUpdate()
            .execute(),
        async () => {
          const answer = await organisation.ask('second', 'POST', 'messages/flags', {
            messages: [id],
            ...wish,
          });
          answered = answer.status;
        },
        async () => expect(answered).toBe(status),
      );
    });

    it('creates no copy of a message that was hidden while the request waited for another message', async () => {
      const { id: open } = await addChannel(organisation);
      const { id: closed } = await addChannel(organisation, { isPrivate: true, members: ['member'] });
      const [seen = 0] = await post(organisation, { channelId: open });
      const [hidden = 0] = await post(organisation, { channelId: closed });
      const answer = await whileLocked(
        db(),
        (transaction) =>
          transaction
            .selectFrom('messages')
            .select('id')
            .where('id', '=', messageId(seen))
            .forUpdate()
            .execute(),
        () =>
          organisation.ask('moderator', 'POST', 'messages/flags', {
            messages: [seen, hidden],
            op: 'add',
            flag: 'starred',
          }),
        (transaction) =>
          transaction
            .updateTable('channels')
            .set({ is_private: 0, is_history_public: 1 })
            .where('id', '=', closed)
            .execute(),
      );
      expect(answer.body).toMatchObject({ code: 'BAD_REQUEST', msg: 'Invalid message(s)' });
      expect(await copiesOf(hidden)).not.toContain(organisation.id('moderator'));
    });

    it('creates no copy of a message that is being moved to a hidden channel', async () => {
      const { id: channelId } = await addChannel(organisation);
      const { id: target } = await addChannel(organisation, { isPrivate: true, members: ['member'] });
      const [id = 0] = await post(organisation, { channelId });
      const first = (channel: ChannelId, message: number | null) => ({ channel, message });
      const answer = await whileLocked(
        db(),
        async (transaction) => {
          await transaction.deleteFrom('user_messages').where('message_id', '=', messageId(id)).execute();
          await transaction
            .updateTable('messages')
            .set({ channel_id: target })
            .where('id', '=', messageId(id))
            .execute();
          for (const { channel, message } of [first(channelId, null), first(target, id)])
            await transaction
              .updateTable('channels')
              .set({ first_message_id: message === null ? null : messageId(message) })
              .where('id', '=', channel)
              .execute();
        },
        () => star(id),
      );
      expect(answer.body).toMatchObject({ code: 'BAD_REQUEST', msg: 'Invalid message(s)' });
      expect(await copiesOf(id)).toEqual([]);
    });
  });

  it('an edit resolves and renders its mentions before it waits for the message’s lock', async () => {
    const { id: channelId } = await addChannel(organisation, { members: ['member'] });
    const [id = 0] = await post(organisation, { channelId });
    const { full_name: name } = await db()
      .selectFrom('users')
      .select('full_name')
      .where('id', '=', organisation.id('second'))
      .executeTakeFirstOrThrow();
    const rename = { full_name: 'Somebody else' };
    const answer = await whileLocked(
      db(),
      (transaction) =>
        transaction.selectFrom('messages').select('id').where('id', '=', messageId(id)).forUpdate().execute(),
      () => organisation.ask('member', 'PATCH', `messages/${id}`, { content: `@**${name}**` }),
      (transaction) =>
        transaction.updateTable('users').set(rename).where('id', '=', organisation.id('second')).execute(),
    );
    expect(answer.status).toBe(200);
    expect((await stored(organisation, id))?.rendered_content).toContain(`@${name}`);
  });
});

import { afterEach, expect, it } from 'vitest';
import { messageProblems } from '../../../../support/check-messages.js';
import { messageId } from '../../../../support/ids.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel, subscribe } from '../chat-under-test.js';
import { post, stored, textsIn } from './moves-under-test.js';

const capable = { client_capabilities: '{"notification_settings_null":true,"bulk_message_deletion":true}' };
const weekAndGrace = 604_800 + 20;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const db = () => organisation.server.server.database.db;
  afterEach(async () => {
    expect(await messageProblems(db())).toEqual([]);
  });

  const edit = (id: number, fields: Record<string, unknown>) =>
    organisation.ask('member', 'PATCH', `messages/${id}`, fields);
  const move = async (id: number, fields: Record<string, unknown>) =>
    expect((await edit(id, { send_notification_to_new_thread: false, ...fields })).body.msg).toBe('');
  const watch = async (who: 'guest' | 'second') => {
    const read = await organisation.watch(who, capable);
    return async () => ((await read()) as { type: string }[]).map(({ type }) => type);
  };

  it('a guest in the new channel gets a move event only if the guest was also in the old channel', async () => {
    const from = await addChannel(organisation, { members: ['member', 'second', 'guest'] });
    const other = await addChannel(organisation, { members: ['member', 'second'] });
    const to = await addChannel(organisation, { members: ['member', 'guest'] });
    const [first = 0] = await post(organisation, { channelId: from.id });
    const [id = 0] = await post(organisation, { channelId: other.id });
    const guest = await watch('guest');
    await move(id, { stream_id: to.id });
    expect(await guest()).toEqual([]);
    await move(first, { stream_id: to.id });
    expect(await guest()).toEqual(['update_message']);
  });

  it('a move to a web-public channel hides the message from no reader', async () => {
    const from = await addChannel(organisation, { members: ['member', 'guest'] });
    const to = await addChannel(organisation, { isWebPublic: true, members: ['member'] });
    const [id = 0] = await post(organisation, { channelId: from.id });
    const guest = await watch('guest');
    await move(id, { stream_id: to.id });
    expect(await guest()).toEqual(['update_message']);
  });

  it('a user’s topic policy moves to a channel that the user can read, and is dropped otherwise', async () => {
    const from = await addChannel(organisation, { isPrivate: true, members: ['member', 'second'] });
    const to = await addChannel(organisation, { members: ['member'] });
    const hidden = await addChannel(organisation, { isPrivate: true, members: ['member', 'owner'] });
    const joiners = { new: { direct_members: [organisation.id('second')], direct_subgroups: [] } };
    await organisation.do('owner', 'PATCH', `streams/${hidden.id}`, { can_subscribe_group: joiners });
    const [id = 0] = await post(organisation, { channelId: from.id });
    await subscribe(organisation, from.id, organisation.id('second'), false);
    const topic = { topic: 'lunch', topic_lower: 'lunch', updated_at: 0, visibility_policy: 3 };
    const followed = { user_id: organisation.id('second'), channel_id: from.id, ...topic };
    await db().insertInto('user_topics').values(followed).execute();
    const read = await organisation.watch('second', capable);
    await move(id, { stream_id: to.id, propagate_mode: 'change_all' });
    expect(await read()).toMatchObject([{ type: 'user_topic', stream_id: to.id, visibility_policy: 3 }]);
    await subscribe(organisation, to.id, organisation.id('second'), false);
    const [other = 0] = await post(organisation, { channelId: from.id, topic: 'tea' });
    const tea = { ...followed, topic: 'tea', topic_lower: 'tea' };
    await db().insertInto('user_topics').values(tea).execute();
    await move(other, { stream_id: hidden.id, propagate_mode: 'change_all' });
    const rows = await db().selectFrom('user_topics').selectAll().where('topic_lower', '=', 'tea').execute();
    expect(rows).toEqual([]);
  });

  it('a user who could join the new private channel gets only a delete event', async () => {
    const from = await addChannel(organisation, { members: ['member', 'second'] });
    const to = await addChannel(organisation, {
      isPrivate: true,
      isHistoryPublic: true,
      members: ['member', 'owner'],
    });
    const joiners = { new: { direct_members: [organisation.id('second')], direct_subgroups: [] } };
    await organisation.do('owner', 'PATCH', `streams/${to.id}`, { can_subscribe_group: joiners });
    const [id = 0] = await post(organisation, { channelId: from.id });
    const second = await watch('second');
    await move(id, { stream_id: to.id });
    expect(await second()).toEqual(['delete_message']);
    await organisation.do('second', 'GET', `messages/${id}`);
  });

  it('a user who could not see the old channel gets no move event, even if its history is shared', async () => {
    const from = await addChannel(organisation, {
      isPrivate: true,
      isHistoryPublic: true,
      members: ['member', 'owner'],
    });
    const to = await addChannel(organisation, { members: ['member', 'second'] });
    const [id = 0] = await post(organisation, { channelId: from.id });
    const second = await watch('second');
    await move(id, { stream_id: to.id });
    expect(await second()).toEqual([]);
    await organisation.do('second', 'GET', `messages/${id}`);
  });

  it('a move to a public channel creates no copies for its subscribers', async () => {
    const from = await addChannel(organisation, { members: ['member'] });
    const to = await addChannel(organisation, { members: ['member', 'second'] });
    const [id = 0] = await post(organisation, { channelId: from.id });
    await move(id, { stream_id: to.id });
    const rows = await db()
      .selectFrom('user_messages')
      .selectAll()
      .where('message_id', '=', messageId(id))
      .execute();
    expect(rows.map(({ user_id }) => user_id)).toEqual([organisation.id('member')]);
  });

  it('a topic that is merged into another topic is announced with its number of messages', async () => {
    const { id: channelId, name } = await addChannel(organisation, { members: ['member'] });
    const [, id = 0] = await post(
      organisation,
      { channelId, topic: 'dinner' },
      { channelId },
      { channelId, topic: 'LUNCH' },
    );
    const said = { propagate_mode: 'change_all', send_notification_to_old_thread: true };
    expect((await edit(id, { topic: 'dinner', ...said })).status).toBe(200);
    const who = `@_**Somebody|${organisation.id('member')}**`;
    const came = `2 messages came from #**${name}>lunch**; ${who} moved them here.`;
    expect((await textsIn(organisation, channelId, 'dinner')).at(-1)).toBe(came);
    const went = `This topic went to #**${name}>dinner**: moved by ${who}.`;
    expect(await textsIn(organisation, channelId, 'lunch')).toEqual([went]);
  });

  it('a message counts as moved if the move to another channel also resolves its topic', async () => {
    const from = await addChannel(organisation, { members: ['member'] });
    const to = await addChannel(organisation, { members: ['member'] });
    const [id = 0] = await post(organisation, { channelId: from.id });
    await move(id, { stream_id: to.id, topic: '✔ lunch' });
    expect((await stored(organisation, id))?.last_moved_at).toBe(organisation.server.now);
  });

  it('a message at the exact time limit can be moved, but its whole topic cannot', async () => {
    const { id: channelId } = await addChannel(organisation, { members: ['member'] });
    const old = { channelId, ageSeconds: weekAndGrace };
    const [oldest = 0, young = 0] = await post(organisation, old, { channelId });
    const whole = await edit(young, { topic: 'dinner', propagate_mode: 'change_all' });
    expect(whole.body).toMatchObject({
      first_message_id_allowed_to_move: young,
      total_messages_in_topic: 2,
      total_messages_allowed_to_move: 1,
    });
    await move(oldest, { topic: 'dinner' });
    const [older = 0] = await post(organisation, { channelId, ageSeconds: weekAndGrace + 1 });
    expect((await edit(older, { topic: 'dinner' })).body.msg).toContain('time limit');
  });

  it('a notice about a resolved topic is deleted if the topic is reopened within a minute', async () => {
    for (const [milliseconds, left] of [
      [60_000, 1],
      [60_001, 3],
    ] as const) {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const [id = 0] = await post(organisation, { channelId });
      await move(id, { topic: '✔ lunch', propagate_mode: 'change_all' });
      organisation.server.now += milliseconds;
      await move(id, { topic: 'lunch', propagate_mode: 'change_all' });
      expect(await textsIn(organisation, channelId, 'lunch')).toHaveLength(left);
    }
  });
});

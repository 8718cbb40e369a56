import { expect, it } from 'vitest';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel } from '../chat-under-test.js';
import { post } from '../edit/moves-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const knowsEmpty = '{"empty_topic_name":true}';
  const want = (stream_id: number, topic: string, visibility_policy: number) =>
    organisation.do('member', 'POST', 'user_topics', { stream_id, topic, visibility_policy });
  const watchMutes = (more: Record<string, string> = {}) =>
    organisation.watch('member', { event_types: '["muted_topics"]', ...more });
  const seconds = () => Math.floor(organisation.server.now / 1000);

  it('the list of muted topics is published only to clients without support for topic policies', async () => {
    const { id, name } = await addChannel(organisation, { members: ['member'] });
    const [older, newer, all] = [
      await watchMutes(),
      await watchMutes({ event_types: '["muted_topics","user_topic"]' }),
      await watchMutes({ event_types: 'null' }),
    ];
    const others = await organisation.watch('second', { event_types: '["muted_topics"]' });
    await want(id, 'Lunch', 1);
    await want(id, 'dinner', 3);
    await want(id, 'lunch', 0);
    const told = (...topics: string[]) => ({
      type: 'muted_topics',
      muted_topics: topics.map((topic) => [name, topic, seconds()]),
    });
    expect(await older()).toEqual([told('Lunch'), told('Lunch'), told()]);
    const types = async (read: () => Promise<unknown[]>) =>
      (await read()).map((event) => (event as { type: string }).type);
    expect(await types(newer)).toEqual(['user_topic', 'user_topic', 'user_topic']);
    expect(await types(all)).toEqual(['user_topic', 'user_topic', 'user_topic']);
    expect(await others()).toEqual([]);
    await want(id, 'dinner', 0);
  });

  it.each([
    ['Lu\u0007nch', 'Invalid character in topic, at position 3.'],
    ['Lunch\u0085', 'Invalid character in topic, at position 6.'],
    ['Lun\u202ech', 'Invalid character in topic, at position 4.'],
    ['\u2800', 'The topic has no visible character.'],
    ['✔', 'General chat cannot be marked as resolved'],
  ])('a policy for the topic %j is refused, because no message can have this topic', async (topic, msg) => {
    const { id } = await addChannel(organisation, { members: ['member'] });
    for (const visibility_policy of [0, 1]) {
      expect(
        await organisation.ask('member', 'POST', 'user_topics', { stream_id: id, topic, visibility_policy }),
      ).toMatchObject({ status: 400, body: { msg, code: 'BAD_REQUEST' } });
    }
  });

  it('clients that do not support the empty topic get its display name', async () => {
    const { id, name } = await addChannel(organisation, { members: ['member'] });
    const types = '["muted_topics"]';
    const [older, newer] = [await watchMutes(), await watchMutes({ client_capabilities: knowsEmpty })];
    const wishes = { event_types: '["user_topic"]' };
    const [olderWish, newerWish] = [
      await organisation.watch('member', wishes),
      await organisation.watch('member', { ...wishes, client_capabilities: knowsEmpty }),
    ];
    await want(id, 'general chat', 1);
    expect(await older()).toMatchObject([{ muted_topics: [[name, 'general chat', seconds()]] }]);
    expect(await newer()).toMatchObject([{ muted_topics: [[name, '', seconds()]] }]);
    expect(await olderWish()).toMatchObject([{ topic_name: 'general chat' }]);
    expect(await newerWish()).toMatchObject([{ topic_name: '' }]);
    const state = await organisation.do('member', 'POST', 'register', {
      event_types: types,
      client_capabilities: knowsEmpty,
    });
    expect(state.muted_topics).toEqual([[name, '', seconds()]]);
    await want(id, '', 0);
  });

  it('clients get the name of the empty topic that they know when a message becomes unread again', async () => {
    const { id } = await addChannel(organisation, { members: ['member', 'second'] });
    const [message = 0] = await post(organisation, { by: 'second', channelId: id, topic: '' });
    const flags = { event_types: '["update_message_flags"]' };
    const [older, newer] = [
      await organisation.watch('member', flags),
      await organisation.watch('member', { ...flags, client_capabilities: knowsEmpty }),
    ];
    for (const op of ['add', 'remove'])
      await organisation.do('member', 'POST', 'messages/flags', { messages: [message], op, flag: 'read' });
    const topicIn = async (read: () => Promise<unknown[]>) => {
      const [, event] = await read();
      return (event as { message_details: Record<string, { topic: string }> }).message_details[message]
        ?.topic;
    };
    expect([await topicIn(older), await topicIn(newer)]).toEqual(['general chat', '']);
  });

  it('muted topics are published again when they move with their messages', async () => {
    const [from, to] = [
      await addChannel(organisation, { members: ['member'] }),
      await addChannel(organisation, { members: ['member'] }),
    ];
    const [message = 0] = await post(organisation, { channelId: from.id, topic: 'lunch' });
    await want(from.id, 'lunch', 1);
    const own = await watchMutes();
    const move = { stream_id: to.id, propagate_mode: 'change_all', send_notification_to_new_thread: false };
    await organisation.do('member', 'PATCH', `messages/${message}`, move);
    expect(await own()).toMatchObject([{ muted_topics: [[to.name, 'lunch', seconds()]] }]);
  });

  it('the initial state lists muted topics separately only if topic policies are not requested', async () => {
    const fetched = async (types: readonly string[] | undefined) =>
      'muted_topics' in
      (await organisation.do(
        'member',
        'POST',
        'register',
        types === undefined ? {} : { event_types: types },
      ));
    expect(await fetched(['muted_topics'])).toBe(true);
    expect(await fetched(['muted_topics', 'user_topic'])).toBe(false);
    expect(await fetched(undefined)).toBe(true);
  });
});

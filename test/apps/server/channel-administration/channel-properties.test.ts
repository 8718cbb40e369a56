import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { post, stored } from '../messages/edit/moves-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { ChannelUnderTest } from './channel-under-test.js';

const subscriptions = 'users/me/subscriptions';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  type Who = Parameters<typeof organisation.ask>[0];
  let channel: ChannelUnderTest;
  beforeEach(() => {
    channel = new ChannelUnderTest(organisation);
  });

  const send = (topic: string) =>
    organisation.ask('member', 'POST', 'messages', {
      type: 'channel',
      to: channel.id,
      topic,
      content: 'hello',
    });
  const reads = async (who: Who, id: number) =>
    (await organisation.ask(who, 'GET', `messages/${id}`)).status === 200;

  it('an update sets the given properties and returns only result and msg', async () => {
    await channel.make('owner');
    const new_name = organisation.newName();
    const { channel_folder_id: folder_id } = await organisation.do(
      'owner',
      'POST',
      'channel_folders/create',
      {
        name: organisation.newName(),
        description: '',
      },
    );
    const wish = {
      new_name,
      description: 'For *lunch*',
      folder_id,
      is_default_stream: true,
      topics_policy: 'allow_empty_topic',
      message_retention_days: 9,
    };
    expect(await organisation.do('owner', 'PATCH', `streams/${channel.id}`, wish)).toEqual({
      result: 'success',
      msg: '',
    });
    expect(await channel.read()).toMatchObject({
      name: new_name,
      description: 'For *lunch*',
      folder_id,
      topics_policy: 'allow_empty_topic',
      rendered_description: '<p>For <em>lunch</em></p>',
      message_retention_days: 9,
    });
    await channel.updated('owner', { folder_id: null });
    expect((await channel.read()).folder_id).toBeNull();
  });

  it('legacy posting parameters are ignored, and reported as ignored', async () => {
    await channel.make('owner');
    const { can_send_message_group: before } = await channel.read();
    const answer = await organisation.do('owner', 'PATCH', `streams/${channel.id}`, {
      stream_post_policy: 2,
      is_announcement_only: true,
      description: 'x',
    });
    expect(answer.ignored_parameters_unsupported).toEqual(['is_announcement_only', 'stream_post_policy']);
    expect((await channel.read()).can_send_message_group).toEqual(before);
  });

  it.each(['x', '1.5', '-1', '0', '999999'])(
    'an update of channel %s fails, because this is not the integer id of a channel',
    async (id) => {
      const { status, body } = await organisation.ask('owner', 'PATCH', `streams/${id}`, {
        description: 'x',
      });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    },
  );

  it('names and descriptions are limited to the lengths in the register response', async () => {
    await channel.make('owner');
    const { max_stream_name_length: name, max_stream_description_length: description } =
      await organisation.do('member', 'POST', 'register');
    const unique = channel.name.padEnd(Number(name), 'ü');
    await channel.updated('owner', { new_name: unique, description: 'é'.repeat(Number(description)) });
    for (const wish of [{ new_name: `${unique}x` }, { description: 'x'.repeat(Number(description) + 1) }]) {
      const { status, body } = await channel.update('owner', wish);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    }
    expect(await channel.read()).toMatchObject({ name: unique, description: 'é'.repeat(1024) });
  });

  describe('history_public_to_subscribers', () => {
    it.each([true, false])('decides whether new subscribers see earlier messages (%s)', async (isShared) => {
      await channel.make('member', { invite_only: true });
      await channel.updated('member', { is_private: true, history_public_to_subscribers: isShared });
      const [before = 0] = await post(organisation, { channelId: channel.id, content: 'kumquat' });
      await channel.add('second');
      const [after = 0] = await post(organisation, { channelId: channel.id, content: 'kumquat' });
      expect([await reads('second', before), await reads('second', after)]).toEqual([isShared, true]);
      const seen = isShared ? [before, after] : [after];
      const narrow = [['channel', channel.id]];
      for (const more of [[], [['search', 'kumquat']], [['topic', 'lunch']]]) {
        const { messages } = await organisation.do('second', 'GET', 'messages', {
          anchor: 'newest',
          num_before: 9,
          narrow: [...narrow, ...more],
        });
        expect((messages as { id: number }[]).map(({ id }) => id)).toEqual(seen);
      }
    });
  });

  it('is_private hides a channel from users who are not subscribed, and unsetting it shows the channel again', async () => {
    await channel.make('member');
    const [id = 0] = await post(organisation, { channelId: channel.id });
    const seen = async (who: Who) => [
      await reads(who, id),
      (await organisation.ask(who, 'GET', `streams/${channel.id}`)).status === 200,
      (await organisation.ask(who, 'POST', subscriptions, { subscriptions: [{ name: channel.name }] }))
        .status,
    ];
    await channel.updated('member', { is_private: true });
    expect(await seen('second')).toEqual([false, false, 400]);
    await channel.updated('member', { is_private: false });
    expect(await seen('second')).toEqual([true, true, 200]);
  });

  it('is_default_stream decides whether new users are subscribed to the channel', async () => {
    await channel.make('owner');
    const channelsOfNew = async () => {
      const account = await organisation.server.addAccount(
        `${organisation.newName().replace(' ', '')}@x.example`,
      );
      const { body } = await organisation.server.ask(account, 'GET', subscriptions);
      return (body.subscriptions as { stream_id: number }[]).map(({ stream_id }) => stream_id);
    };
    expect(await channelsOfNew()).not.toContain(channel.id);
    await channel.updated('administrator', { is_default_stream: true });
    expect(await channelsOfNew()).toContain(channel.id);
    await channel.updated('administrator', { is_default_stream: false });
    expect(await channelsOfNew()).not.toContain(channel.id);
  });

  describe('topics_policy', () => {
    it.each([
      ['inherit', 'allow_empty_topic', 200, 200],
      ['inherit', 'disable_empty_topic', 400, 200],
      ['allow_empty_topic', 'disable_empty_topic', 200, 200],
      ['disable_empty_topic', 'allow_empty_topic', 400, 200],
      ['empty_topic_only', 'disable_empty_topic', 200, 400],
    ])(
      '%s with the organization’s policy %s determines the allowed topics',
      async (topics_policy, ofRealm, empty, named) => {
        await channel.make('member');
        expect((await channel.read()).topics_policy).toBe('inherit');
        await channel.updated('member', { topics_policy });
        await organisation.do('owner', 'PATCH', 'realm', { topics_policy: ofRealm });
        expect([(await send('')).status, (await send('lunch')).status]).toEqual([empty, named]);
        await organisation.do('owner', 'PATCH', 'realm', { topics_policy: 'allow_empty_topic' });
      },
    );

    it('empty_topic_only refuses edits to another topic, and can be set only if no message is in a named topic', async () => {
      await channel.make('member');
      const [id = 0] = await post(organisation, { channelId: channel.id, topic: 'lunch' });
      const only = { topics_policy: 'empty_topic_only' };
      expect((await channel.update('member', only)).body.code).toBe('BAD_REQUEST');
      const quiet = { send_notification_to_new_thread: false };
      await organisation.do('member', 'PATCH', `messages/${id}`, { topic: '', ...quiet });
      await channel.updated('member', only);
      const { body } = await organisation.ask('member', 'PATCH', `messages/${id}`, { topic: 'a' });
      expect(body).toMatchObject({ code: 'BAD_REQUEST', empty_topic_display_name: 'general chat' });
      expect((await stored(organisation, id))?.topic).toBe('');
    });
  });
});

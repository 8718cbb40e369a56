import { beforeEach, expect, it } from 'vitest';
import { messageId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { ChannelUnderTest } from './channel-under-test.js';

const day = 24 * 60 * 60_000;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let channel: ChannelUnderTest;
  beforeEach(async () => {
    channel = new ChannelUnderTest(organisation);
    await channel.make();
  });

  const send = (topic: string, content: string) =>
    organisation.do('member', 'POST', 'messages', {
      type: 'stream',
      to: channel.id,
      topic,
      content,
    });
  const contents = async () => (await channel.messages()).map(({ content }) => content);

  async function pass(days: number): Promise<void> {
    organisation.server.now += days * day;
    await organisation.server.settle();
  }

  it('the retention job deletes messages older than the channel’s limit in all topics, and notifies their readers', async () => {
    await channel.updated('owner', { message_retention_days: 3 });
    const { id } = await send('one', 'old');
    await send('two', 'old too');
    await pass(2);
    await send('one', 'new');
    organisation.server.now += 1.5 * day;
    // Opens a new queue, because an older queue would have expired by now.
    const events = await organisation.watch('second', {
      event_types: '["delete_message","stream"]',
      client_capabilities: '{"notification_settings_null":false,"bulk_message_deletion":true}',
    });
    await organisation.server.settle();
    expect(await contents()).toEqual(['new']);
    expect(await events()).toContainEqual({
      type: 'delete_message',
      message_type: 'stream',
      stream_id: channel.id,
      topic: 'one',
      message_ids: [id],
    });
  });

  it('the organization’s limit applies unless the channel has its own limit, which can be unlimited', async () => {
    const kept = new ChannelUnderTest(organisation);
    await kept.make();
    await kept.updated('owner', { message_retention_days: 'unlimited' });
    await send('one', 'in the usual channel');
    await organisation.do('member', 'POST', 'messages', {
      type: 'stream',
      to: kept.id,
      topic: 'one',
      content: 'without end',
    });
    await pass(40);
    expect(await contents()).toEqual(['in the usual channel']);
    await organisation.do('owner', 'PATCH', 'realm', { message_retention_days: 30 });
    await pass(1);
    await organisation.do('owner', 'PATCH', 'realm', { message_retention_days: 'unlimited' });
    expect(await contents()).toEqual([]);
    expect((await kept.messages()).map(({ content }) => content)).toEqual(['without end']);
  });

  it('the retention job deletes the oldest messages of every channel, regardless of the creation order of channels', async () => {
    const later = new ChannelUnderTest(organisation);
    await later.make();
    for (const each of [later, channel, later]) {
      await each.updated('owner', { message_retention_days: 3 });
      const message = { type: 'stream', to: each.id, topic: 'one', content: 'old' };
      await organisation.do('member', 'POST', 'messages', message);
    }
    await pass(4);
    expect([await channel.messages(), await later.messages()]).toEqual([[], []]);
  });

  it('the retention job deletes direct messages older than the organization’s limit', async () => {
    const { id } = await organisation.do('member', 'POST', 'messages', {
      type: 'direct',
      to: [organisation.id('second')],
      content: 'hello',
    });
    await organisation.do('owner', 'PATCH', 'realm', { message_retention_days: 5 });
    await pass(6);
    await organisation.do('owner', 'PATCH', 'realm', { message_retention_days: 'unlimited' });
    const { db } = organisation.server.server.database;
    const left = await db
      .selectFrom('messages')
      .select('id')
      .where('id', '=', messageId(Number(id)))
      .execute();
    const copies = await db
      .selectFrom('user_messages')
      .select('user_id')
      .where('message_id', '=', messageId(Number(id)))
      .execute();
    expect([left, copies]).toEqual([[], []]);
  });

  it('the retention job deletes the old direct messages of all conversations and keeps the new messages', async () => {
    const say = (to: 'second' | 'owner' | 'moderator', content: string) =>
      organisation.do('member', 'POST', 'messages', {
        type: 'direct',
        to: [organisation.id(to)],
        content,
      });
    const all = ['moderator', 'second', 'owner'] as const;
    for (const to of all) await say(to, 'old');
    await say('second', 'old too');
    organisation.server.now += 6 * day;
    await say('second', 'new');
    await organisation.do('owner', 'PATCH', 'realm', { message_retention_days: 5 });
    await pass(0.5);
    await organisation.do('owner', 'PATCH', 'realm', { message_retention_days: 'unlimited' });
    const { messages } = await organisation.do('member', 'GET', 'messages', {
      anchor: 'newest',
      num_before: 100,
      num_after: 0,
      apply_markdown: false,
      narrow: [{ operator: 'is', operand: 'dm' }],
    });
    expect((messages as { content: string }[]).map(({ content }) => content)).toEqual(['new']);
  });
});

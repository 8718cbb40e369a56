import { afterEach, beforeEach, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { ChannelUnderTest } from '../channel-administration/channel-under-test.js';
import { post } from '../messages/edit/moves-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let secret: ChannelUnderTest;
  let open: ChannelUnderTest;

  beforeEach(async () => {
    await organisation.do('owner', 'PATCH', 'realm', { send_channel_events_messages: true });
    secret = new ChannelUnderTest(organisation);
    await secret.make('owner', { invite_only: true });
    open = new ChannelUnderTest(organisation);
    await open.make('member');
    await open.add('second');
  });

  afterEach(async () => {
    await organisation.do('owner', 'PATCH', 'realm', {
      send_channel_events_messages: false,
      can_access_all_users_group: { new: await organisation.roleGroup('everyone') },
    });
  });

  const newest = async () => {
    const narrow = [{ operator: 'channel', operand: open.id }];
    const asked = { anchor: 'newest', num_before: 1, num_after: 0, narrow };
    const { messages } = await organisation.do('second', 'GET', 'messages', asked);
    return (messages as { content: string; flags: string[] }[])[0];
  };

  it('a notice that quotes a user does not link channels that this user cannot read', async () => {
    await post(organisation, { by: 'owner', channelId: secret.id, topic: 'budget' });
    await open.updated('member', { description: `#**${secret.name}>budget** and #**${open.name}**` });
    const { content } = (await newest()) ?? { content: '' };
    expect(content).toContain(`data-stream-id="${open.id}"`);
    expect(content).not.toContain(`data-stream-id="${secret.id}"`);
  });

  it('a notice that quotes a user mentions no user', async () => {
    await open.updated('member', { new_name: `${open.name} @**all**` });
    expect((await newest())?.flags).toEqual([]);
  });

  it('a guest with limited visibility cannot find users by guessing names', async () => {
    await open.add('guest');
    await organisation.do('owner', 'PATCH', 'realm', {
      can_access_all_users_group: { new: await organisation.roleGroup('members') },
    });
    const known = (principal: unknown) =>
      organisation.ask('guest', 'DELETE', 'users/me/subscriptions', {
        subscriptions: [open.name],
        principals: [principal],
      });
    const found = (operand: unknown) =>
      organisation.ask('guest', 'GET', 'messages', {
        anchor: 'newest',
        num_before: 1,
        num_after: 0,
        narrow: [{ operator: 'sender', operand }],
      });
    for (const name of ['moderator@example.com', organisation.id('moderator')]) {
      expect((await known(name)).body.msg).toBe(`There is no active user ${name}`);
      expect((await found(name)).body.code).toBe('BAD_NARROW');
    }
    expect((await known('member@example.com')).body.msg).toBe('Insufficient permission');
    expect((await found('member@example.com')).status).toBe(200);
  });

  it('a user who muted a topic and then left its private channel gets no events about the topic', async () => {
    await secret.add('second');
    await organisation.do('second', 'POST', 'user_topics', {
      stream_id: secret.id,
      topic: 'budget',
      visibility_policy: 1,
    });
    await organisation.do('second', 'DELETE', 'users/me/subscriptions', { subscriptions: [secret.name] });
    const told = await organisation.watch('second', { event_types: '["muted_topics"]' });
    await organisation.do('second', 'POST', 'user_topics', {
      stream_id: open.id,
      topic: 'lunch',
      visibility_policy: 1,
    });
    expect(JSON.stringify(await told())).not.toContain('budget');
    expect(JSON.stringify(await told())).toContain('lunch');
  });

  it('a request with JSON strings that a database cannot store is refused with the parameter’s name', async () => {
    for (const entry of ['"name":"a\\u0000"', '"name":"a\\ud800"', '"name":"a","__proto__":{}']) {
      const { status, body } = await organisation.ask('member', 'POST', 'users/me/subscriptions', {
        subscriptions: `[{${entry}}]`,
      });
      expect([status, body.msg]).toEqual([
        400,
        'Invalid subscriptions: must not contain U+0000, an unpaired surrogate, or the name __proto__',
      ]);
    }
  });

  it('a request can create at most 10,000 subscriptions', async () => {
    const { db } = organisation.server.server.database;
    const people = Array.from({ length: 101 }, (_, index) => `many${index}-${open.id}@example.com`);
    const rows = people.map((email) => ({
      email,
      email_lower: email,
      full_name: email,
      role: 400,
      is_bot: 0,
      is_active: 1,
      api_key_hash: 'digest',
      created_at: 0,
    }));
    await db.insertInto('users').values(rows).execute();
    const subscriptions = Array.from({ length: 100 }, (_, index) => ({ name: `many ${open.id} ${index}` }));
    const asked = { subscriptions, principals: people };
    const { status, body } = await organisation.ask('owner', 'POST', 'users/me/subscriptions', asked);
    expect([status, body.msg]).toEqual([400, 'At most 10000 subscriptions can be made at once']);
  });

  it('a message of maximum length can be edited in any script', async () => {
    const [id = 0] = await post(organisation, { channelId: open.id });
    await organisation.do('member', 'PATCH', `messages/${id}`, { content: '漢'.repeat(10_000) });
    expect((await newest())?.content).toContain('漢漢');
  });
});

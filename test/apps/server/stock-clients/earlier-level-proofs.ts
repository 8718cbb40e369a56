import { expect } from 'vitest';
import { keyFields } from '../push/client-device-under-test.js';
import { testPhone } from '../server-under-test.js';
import { upload } from '../uploads/send-file.js';
import { firstAnswer, type LevelsUnderTest, notServed, type Proof, type Row } from './levels-under-test.js';

const day = 86_400_000;

/** Markdown images are rendered as links, even for uploaded files (437, 467). */
const linksImages: Proof = async (levels) => {
  expect(await levels.html('![cat](/user_uploads/1/a/cat.png)')).toMatch(
    /^<p>!?<a href="[^"]*cat\.png">cat<\/a><\/p>$/,
  );
};

/** The events for a new organization description (462, 464). */
const describesItself: Proof = async (levels) => {
  const events = await levels.watch('second', { event_types: '["realm"]' });
  const description = levels.unused('**description**');
  await levels.do('owner', 'PATCH', 'realm', { description });
  const rendered_description = `<p>${description.replace('**', '<strong>').replace('**', '</strong>')}</p>`;
  const data = { description, rendered_description };
  expect(await events()).toEqual([{ type: 'realm', op: 'update_dict', property: 'default', data }]);
};

/** The ids of the messages that the member reads in a narrow. */
async function idsIn(levels: LevelsUnderTest, parameters: Row): Promise<unknown[]> {
  const sizes = { num_before: 0, num_after: 5 };
  const { messages } = await levels.do('member', 'GET', 'messages', { ...sizes, ...parameters });
  return (messages as Row[]).map(({ id }) => id);
}

const deletions = (levels: LevelsUnderTest, who: 'owner' | 'second') =>
  levels.watch(who, {
    event_types: '["delete_message"]',
    client_capabilities: '{"notification_settings_null":false,"bulk_message_deletion":true}',
  });

/** Proofs for the levels after phones' public keys and before client devices. */
export const earlierProofs: Readonly<Record<number, Proof>> = {
  432: (levels) =>
    levels.refuses(
      ['owner', 'POST', 'mobile_push/register', keyFields(7)],
      400,
      "Missing 'device_id' argument",
    ),
  async 433(levels) {
    const { members } = await levels.do('owner', 'GET', 'users');
    const stubs = new Set((members as Row[]).map(({ is_imported_stub }) => is_imported_stub));
    expect(stubs).toEqual(new Set([false]));
  },
  async 434(levels) {
    const id = await levels.channel();
    const narrow = [{ operator: 'channel', operand: id }];
    const counts: number[] = [];
    for (const isOn of [true, false]) {
      await levels.do('owner', 'PATCH', 'realm', { send_channel_events_messages: isOn });
      await levels.do('owner', 'PATCH', `streams/${id}`, { description: levels.unused('description') });
      const { messages } = await levels.do('owner', 'GET', 'messages', {
        ...{ anchor: 'newest', num_before: 9, num_after: 0, narrow },
      });
      counts.push((messages as Row[]).length);
    }
    expect(counts).toEqual([1, 1]);
  },
  435: firstAnswer({ server_report_message_types: [] }),
  async 436(levels) {
    const alone = String(await levels.html(':smile:'));
    expect(await levels.html('a :smile:')).toBe(alone.replace('<p>', '<p>a '));
  },
  async 437(levels) {
    const [members, everyone] = [await levels.roleGroup('members'), await levels.roleGroup('everyone')];
    const access = (old: number, value: number) => ({ can_access_all_users_group: { old, new: value } });
    await levels.do('owner', 'PATCH', 'realm', access(everyone, members));
    const sees = async (user_list_incomplete: boolean) => {
      const capabilities = { notification_settings_null: true, user_list_incomplete };
      const { realm_users } = await levels.do('guest', 'POST', 'register', {
        client_capabilities: capabilities,
      });
      return (realm_users as Row[]).map(({ full_name }) => full_name);
    };
    expect(await sees(false)).toContain('Unknown user');
    expect(await sees(true)).not.toContain('Unknown user');
    await levels.do('owner', 'PATCH', 'realm', access(members, everyone));
    await linksImages(levels);
  },
  438: firstAnswer({ realm_owner_full_content_access: false }),
  async 439(levels) {
    const events = await levels.watch('member', {
      event_types: '["update_display_settings","update_global_notifications","user_settings"]',
    });
    await levels.do('member', 'PATCH', 'settings', { enter_sends: false, enable_sounds: false });
    expect(new Set((await events()).map((event) => (event as Row).type))).toEqual(new Set(['user_settings']));
  },
  async 440(levels) {
    const { subscribed_channel_ids } = await levels.do(
      'member',
      'GET',
      `users/${levels.id('owner')}/channels`,
    );
    expect(subscribed_channel_ids).toContain(levels.channelId);
  },
  async 441(levels) {
    const admins = await levels.roleGroup('administrators');
    const id = await levels.channel({ can_create_topic_group: admins });
    const post = (topic: string) => ({ type: 'channel', to: id, topic, content: 'hello' });
    await levels.refuses(['member', 'POST', 'messages', post('new')], 400);
    await levels.do('owner', 'POST', 'messages', post('known'));
    await levels.do('member', 'POST', 'messages', post('known'));
  },
  442: firstAnswer({ tenor_api_key: '' }),
  async 443(levels) {
    const path = await upload(levels, levels.accounts.owner);
    const { id } = await levels.send(`[cat](/user_uploads/${path})`);
    const { attachments } = await levels.do('owner', 'GET', 'attachments');
    const own = (attachments as Row[]).find(({ path_id }) => path_id === path);
    const { timestamp } = await levels.message(id);
    expect(own?.create_time).toBe(timestamp);
  },
  444: (levels) =>
    levels.refuses(
      [
        'owner',
        'PATCH',
        'settings',
        { target_users: { user_ids: [levels.id('member')] }, enter_sends: true },
      ],
      400,
    ),
  async 445(levels) {
    const to = await levels.channel();
    const narrow = [{ operator: 'channel', operand: to }];
    const sent: unknown[] = [];
    for (const topic of ['first', 'second']) {
      levels.server.now += day;
      const { id } = await levels.do('owner', 'POST', 'messages', {
        ...{ type: 'channel', to, topic, content: topic },
      });
      sent.push(id);
    }
    const anchor_date = new Date(levels.server.now - day / 2).toISOString();
    expect(await idsIn(levels, { anchor: 'date', anchor_date, narrow })).toEqual(sent.slice(1));
    const flags = { op: 'add', flag: 'starred', num_before: 0, num_after: 5, narrow };
    await levels.do('member', 'POST', 'messages/flags/narrow', { ...flags, anchor: 'date', anchor_date });
    const starred = [...narrow, { operator: 'is', operand: 'starred' }];
    expect(await idsIn(levels, { anchor: 'oldest', narrow: starred })).toEqual(sent.slice(1));
  },
  async 446(levels) {
    const narrow = [
      { operator: 'channel', operand: levels.channelId },
      { operator: 'mentions', operand: levels.id('second') },
    ];
    const { id } = await levels.send(`@**|${levels.id('second')}**`);
    await levels.send('no mention');
    expect(await idsIn(levels, { anchor: 'oldest', narrow })).toEqual([id]);
  },
  447: (levels) => notServed('PATCH', `bots/${levels.id('bot')}`)(levels),
  448: (levels) => notServed('GET', `streams/${levels.channelId}/email_address`)(levels),
  449: notServed('GET', 'export/realm'),
  async 450(levels) {
    const { fields } = testPhone('5');
    levels.server.relay.next({ status: 200, body: { result: 'success', msg: '', device_id: 5 } });
    const events = await levels.watch('second', { event_types: '["push_device"]' });
    await levels.do('second', 'POST', 'mobile_push/register', fields);
    await levels.server.settle();
    expect(await events()).toEqual([{ type: 'push_device', push_account_id: '5', status: 'active' }]);
  },
  async 451(levels) {
    expect(await levels.html('<time:some day>')).toBe('<p>&lt;time:some day&gt;</p>');
  },
  async 452(levels) {
    const to = await levels.channel();
    await levels.do('owner', 'PATCH', `streams/${to}`, { message_retention_days: 3 });
    const { id } = await levels.do('owner', 'POST', 'messages', {
      ...{ type: 'channel', to, topic: 'old', content: 'old' },
    });
    levels.server.now += 4 * day;
    // Opens a new queue, because an older queue would have expired by now.
    const events = await deletions(levels, 'owner');
    await levels.server.settle();
    expect(await events()).toEqual([expect.objectContaining({ type: 'delete_message', message_ids: [id] })]);
  },
  453: firstAnswer({ gif_rating_policy_options: {}, realm_gif_rating_policy: 0 }),
  async 454(levels) {
    for (const web_home_view of ['recent', 'recent_topics']) {
      await levels.do('owner', 'PATCH', 'settings', { web_home_view });
      expect(await levels.first()).toMatchObject({ user_settings: { web_home_view: 'recent' } });
    }
  },
  async 455(levels) {
    const field = { name: levels.unused('field'), hint: '', field_type: 1, use_for_user_matching: true };
    const { id } = await levels.do('owner', 'POST', 'realm/profile_fields', field);
    expect((await levels.first()).custom_profile_fields).toContainEqual(
      expect.objectContaining({ id, use_for_user_matching: true }),
    );
    await levels.do('owner', 'DELETE', `realm/profile_fields/${id}`);
  },
  async 456(levels) {
    const answer = await levels.do('owner', 'PATCH', 'realm', { default_avatar_source: 'J' });
    expect(answer.ignored_parameters_unsupported).toEqual(['default_avatar_source']);
    expect(await levels.first()).toMatchObject({ realm_default_avatar_source: 'G' });
  },
  async 457(levels) {
    const to = await levels.channel({ invite_only: true });
    const { id } = await levels.do('owner', 'POST', 'messages', {
      ...{ type: 'channel', to, topic: 'secret', content: 'secret' },
    });
    const [owner, second] = [await deletions(levels, 'owner'), await deletions(levels, 'second')];
    await levels.do('owner', 'DELETE', `messages/${id}`);
    expect([await owner(), await second()]).toEqual([[expect.objectContaining({ message_ids: [id] })], []]);
  },
  async 458(levels) {
    const bot = levels.id('bot');
    expect(await levels.do('owner', 'GET', `users/${bot}/channels`)).toMatchObject({
      subscribed_channel_ids: expect.any(Array),
    });
    const group = await levels.roleGroup('members');
    expect(await levels.do('owner', 'GET', `user_groups/${group}/members/${bot}`)).toMatchObject({
      is_user_group_member: true,
    });
  },
  async 459(levels) {
    const path = `users/${levels.id('second')}`;
    const actions = { delete_profile: true };
    await levels.refuses(['owner', 'DELETE', path, { actions }], 400);
    expect(await levels.do('owner', 'GET', path)).toMatchObject({ user: { is_active: true } });
  },
  460: notServed('POST', 'calls/constructorgroups/create'),
  461: firstAnswer({ realm_bots: [] }),
  462: describesItself,
  463: (levels) => notServed('GET', `bots/${levels.id('bot')}/api_key`)(levels),
  464: describesItself,
  465: notServed('POST', 'calls/nextcloud_talk/create'),
  466: async (levels) => {
    expect(await levels.first()).toMatchObject({ realm_uuid: levels.server.server.realmUuid });
    const { members } = await levels.do('owner', 'GET', 'users');
    expect((members as Row[]).map(({ avatar_source }) => avatar_source)).not.toContain('J');
  },
  467: linksImages,
};

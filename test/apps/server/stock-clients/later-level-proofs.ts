import { expect } from 'vitest';
import { createDevice, keyFields, tokenFields, tokenIdOf } from '../push/client-device-under-test.js';
import { upload } from '../uploads/send-file.js';
import { firstAnswer, type LevelsUnderTest, notServed, type Proof, type Row } from './levels-under-test.js';

const requiresEncryption: Proof = async (levels) => {
  expect(await levels.first()).toMatchObject({ realm_require_e2ee_push_notifications: true });
  await levels.refuses(['owner', 'PATCH', 'realm', { require_e2ee_push_notifications: false }], 400);
};

const linkifier: Row = { pattern: 'L(?P<id>[0-9]+)', url_template: 'https://levels.example/{id}' };

async function linkifierWith(levels: LevelsUnderTest, fields: Row): Promise<void> {
  const { id } = await levels.do('owner', 'POST', 'realm/filters', { ...linkifier, ...fields });
  const { linkifiers } = await levels.do('owner', 'GET', 'realm/linkifiers');
  expect(linkifiers).toContainEqual(expect.objectContaining({ id, ...fields }));
  await levels.do('owner', 'DELETE', `realm/filters/${id}`);
}

/**
 * Proofs for the levels that have client devices. From the first of these levels on, stock apps register for encrypted
 * push.
 */
export const laterProofs: Readonly<Record<number, Proof>> = {
  async 468(levels) {
    const { server, accounts } = levels;
    server.relay.next({ status: 200, body: { result: 'success', msg: '' } });
    const id = await createDevice(server, accounts.member);
    const groups = { ...keyFields(7), ...tokenFields('a token') };
    await levels.do('member', 'POST', 'mobile_push/register', { device_id: id, ...groups });
    await server.settle();
    expect((await levels.do('member', 'POST', 'register')).devices).toEqual({
      [id]: expect.objectContaining({ push_key_id: 7, push_token_id: tokenIdOf('a token') }),
    });
  },
  async 469(levels) {
    await levels.do('owner', 'PATCH', 'realm', { media_preview_size: 150 });
    expect(await levels.first()).toMatchObject({ realm_media_preview_size: 150 });
  },
  async 470(levels) {
    const id = await createDevice(levels.server, levels.accounts.owner);
    await levels.do('owner', 'POST', 'remove_client_device', { device_id: id });
    const parameters = { device_id: id };
    await levels.refuses(['owner', 'POST', 'remove_client_device', parameters], 400, 'Invalid `device_id`');
  },
  471: (levels) => linkifierWith(levels, { example_input: 'L12', reverse_template: 'L{id}' }),
  async 472(levels) {
    const path = await upload(levels, levels.accounts.owner);
    const { id } = await levels.send(`[cat](/user_uploads/${path})`);
    const { attachments } = await levels.do('owner', 'GET', 'attachments');
    expect(attachments).toContainEqual(expect.objectContaining({ path_id: path, message_ids: [id] }));
  },
  473: (levels) => notServed('POST', `users/${levels.id('bot')}/status`)(levels),
  474: firstAnswer({ realm_bots: [] }),
  475: notServed('POST', 'users', 405),
  476: (levels) =>
    levels.refuses(
      [
        ...(['owner', 'POST', 'realm/profile_fields'] as const),
        { name: 'Life', hint: '', field_type: 2, display_in_profile_summary: true },
      ],
      400,
    ),
  477: firstAnswer({ realm_workplace_users_group: expect.any(Number) }),
  478: (levels) => linkifierWith(levels, { alternative_url_templates: ['https://other.example/{id}'] }),
  479: notServed('GET', 'thumbnail/status/1/cat.png'),
  async 480(levels) {
    await levels.do('owner', 'POST', 'users/me/subscriptions', { subscriptions: [{ name: 'archived' }] });
    const { stream_id: id } = await levels.do('owner', 'GET', 'get_stream_id', { stream: 'archived' });
    await levels.do('owner', 'DELETE', `streams/${id}`);
    const { streams } = await levels.do('owner', 'GET', 'streams', { exclude_archived: false });
    expect(streams).toContainEqual(expect.objectContaining({ stream_id: id, is_archived: true }));
    expect(await levels.do('owner', 'GET', `streams/${id}/members`)).toMatchObject({
      subscribers: [levels.id('owner')],
    });
    await levels.do('owner', 'GET', `users/me/${id}/topics`);
  },
  481: async (levels) =>
    void expect(await levels.first({ idle_queue_timeout: 'mobile' })).toMatchObject({
      idle_queue_timeout_secs: 12 * 3600,
    }),
  async 482(levels) {
    const messages = ['one', 'two'].map(async (content) => {
      const to = [levels.id('second')];
      const { id } = await levels.do('owner', 'POST', 'messages', { type: 'direct', to, content });
      return (await levels.message(id)).recipient_id;
    });
    const [one, two] = await Promise.all(messages);
    expect([typeof one, one]).toEqual(['number', two]);
  },
  async 483(levels) {
    const token = { token: 'in the clear' };
    await levels.refuses(['owner', 'POST', 'users/me/android_gcm_reg_id', token], 400);
    await levels.refuses(
      ['owner', 'DELETE', 'users/me/android_gcm_reg_id', token],
      400,
      'Token does not exist',
    );
  },
  async 484(levels) {
    const { id } = await levels.send('no reactions');
    await levels.refuses(['owner', 'POST', `messages/${id}/reactions`, { emoji_name: 'smile' }], 404);
    expect(await levels.message(id)).toMatchObject({ reactions: [] });
  },
  485: firstAnswer({ realm_incoming_webhook_bots: [] }),
  486: firstAnswer({ klipy_api_key: '' }),
  487: (levels) => notServed('GET', `users/${levels.id('second')}/presence`)(levels),
  488: firstAnswer({ realm_authentication_methods: expect.not.objectContaining({ discord: true }) }),
  489: (levels) =>
    levels
      .do('owner', 'GET', 'messages', {
        ...{ anchor: 'newest', num_before: 1, num_after: 0 },
        narrow: [{ operator: 'channels', operand: 'archived' }],
      })
      .then(({ messages }) => expect(messages).toEqual([])),
  490: async (levels) => {
    const { members } = await levels.do('owner', 'GET', 'users');
    expect(new Set((members as Row[]).map(({ is_deleted }) => is_deleted))).toEqual(new Set([false]));
  },
  491: async (levels) =>
    void expect(
      await levels.first({
        client_capabilities: { notification_settings_null: true, individual_emoji_changes: true },
      }),
    ).toMatchObject({ realm_emoji: {} }),
  async 492(levels) {
    const { server } = levels;
    const eve = await server.addAccount('eve@example.com');
    await createDevice(server, eve);
    const { body } = await server.ask(eve, 'POST', 'users/me/api_key/regenerate');
    const authorization = `Basic ${btoa(`${eve.email}:${body.api_key}`)}`;
    expect((await server.ask({ ...eve, authorization }, 'POST', 'register')).body.devices).toEqual({});
  },
  493: firstAnswer({ has_webex_token: false }),
  494: notServed('GET', 'bot_storage'),
  async 495(levels) {
    expect(await levels.html('[film](/user_uploads/1/a/film.mov)')).toMatch(
      /^<p><a href="[^"]*film\.mov">film<\/a><\/p>$/,
    );
  },
  async 496(levels) {
    expect((await levels.do('bot', 'GET', 'user_groups')).user_groups).not.toEqual([]);
    await levels.do('bot', 'POST', 'user_groups/create', {
      ...{ name: 'of a bot', description: '', members: [levels.id('bot')] },
    });
  },
  497: (levels) => notServed('GET', `users/${levels.id('second')}/presence`)(levels),
  499: notServed('POST', 'export/realm'),
  500: requiresEncryption,
  async 503(levels) {
    expect(await levels.html('<time:2025-01-31T10:00:00+01:00>')).toContain(
      'datetime="2025-01-31T09:00:00Z"',
    );
    for (const text of ['tomorrow', '1738314000', 'Jan 31 2025']) {
      expect(await levels.html(`<time:${text}>`)).not.toContain('datetime');
    }
  },
  504: requiresEncryption,
  async 505(levels) {
    const { id } = await levels.do('member', 'POST', 'messages', {
      ...{ type: 'channel', to: levels.channelId, topic: 'old', content: 'too old' },
    });
    levels.server.now += 8 * 86_400_000;
    const { id: young } = await levels.do('member', 'POST', 'messages', {
      ...{ type: 'channel', to: levels.channelId, topic: 'old', content: 'young' },
    });
    const move = { topic: 'new', propagate_mode: 'change_all' };
    const { status, body } = await levels.ask('member', 'PATCH', `messages/${id}`, move);
    expect([status, body]).toMatchObject([
      400,
      {
        code: 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
        first_message_id_allowed_to_move: young,
        ...{ total_messages_in_topic: 2, total_messages_allowed_to_move: 1 },
      },
    ]);
  },
  506: notServed('POST', 'export/realm'),
  async 507(levels) {
    const path = `streams/${levels.channelId}`;
    await levels.do('owner', 'PATCH', path, { default_push_notifications: true });
    expect((await levels.do('owner', 'GET', path)).stream).toMatchObject({
      default_push_notifications: true,
    });
  },
  async 508(levels) {
    const { id, message_url, message_link } = await levels.send('linked');
    expect(message_url).toMatch(new RegExp(`^https://.*/near/${id}$`));
    expect(message_link).toContain(`](${message_url})`);
  },
  async 509(levels) {
    const { id } = await levels.send('stays');
    const alone = { stream_id: levels.channelId };
    await levels.refuses(['owner', 'PATCH', `messages/${id}`, alone], 400, 'Nothing to change');
    const events = await levels.watch('owner', { event_types: '["update_message"]' });
    await levels.do('owner', 'PATCH', `messages/${id}`, { ...alone, topic: 'another topic' });
    expect(await events()).toEqual([expect.not.objectContaining({ new_stream_id: expect.anything() })]);
  },
  async 510(levels) {
    const { id } = await levels.send('https://example.com');
    await levels.do('owner', 'POST', 'messages/flags', {
      messages: [id],
      op: 'add',
      flag: 'hide_link_previews',
    });
    expect((await levels.message(id)).flags).toContain('hide_link_previews');
  },
  511: notServed('POST', 'messages/1/report'),
  512: notServed('PATCH', 'users/me/subscriptions', 405),
};

import type { ChannelId } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import type { ServerTransaction } from '#server/tables.js';
import { channelId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel, subscribe } from '../messages/chat-under-test.js';
import { post } from '../messages/edit/moves-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const day = 24 * 60 * 60;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const change = (run: (transaction: ServerTransaction) => Promise<unknown>) =>
    organisation.server.server.database.write(run);
  type Records = Record<string, unknown>[];

  it('the number of a channel’s messages in the last week is reported once the channel is a week old', async () => {
    const traffic = async () => {
      const { streams } = await organisation.do('member', 'GET', 'streams');
      const own = (streams as Records).filter(({ stream_id }) => ids.includes(channelId(Number(stream_id))));
      return own.map(({ stream_weekly_traffic: messages }) => messages);
    };
    const channels = [
      await addChannel(organisation, { name: 'busy' }),
      await addChannel(organisation, { name: 'quiet' }),
      await addChannel(organisation, { name: 'young' }),
    ] as const;
    const ids = channels.map(({ id }) => id);
    const [busy, quiet, young] = ids as [ChannelId, ChannelId, ChannelId];
    await change(({ db }) =>
      db
        .updateTable('channels')
        .set({ created_at: organisation.server.now - 8 * day * 1000 })
        .where('id', 'in', [busy, quiet])
        .execute(),
    );
    expect(await traffic()).toEqual([0, 0, null]);
    for (const [channelId, ageSeconds] of [
      [busy, 30 * day],
      [quiet, 30 * day],
      [busy, 7 * day],
      [busy, 7 * day - 1],
      [young, 100],
      [busy, 50],
    ] as const)
      await post(organisation, { channelId, ageSeconds });
    expect(await traffic()).toEqual([2, 0, null]);
    organisation.server.now += 8 * day * 1000;
    expect(await traffic()).toEqual([0, 0, 0]);
  });

  it('a bot can list those of its owner’s channels that the bot can see', async () => {
    const open = await addChannel(organisation, { members: ['moderator'] });
    const hidden = await addChannel(organisation, { isPrivate: true, members: ['moderator'] });
    await change(({ db }) =>
      db
        .updateTable('users')
        .set({ bot_owner_id: organisation.id('moderator') })
        .where('id', '=', organisation.id('bot'))
        .execute(),
    );
    const listed = async (who: 'bot' | 'member', more: Record<string, unknown>) => {
      const asked = { include_public: false, include_subscribed: false, ...more };
      const { streams } = await organisation.do(who, 'GET', 'streams', asked);
      return (streams as Records).map(({ stream_id }) => stream_id);
    };
    expect(await listed('bot', {})).toEqual([]);
    expect(await listed('bot', { include_owner_subscribed: true })).toEqual([open.id]);
    await subscribe(organisation, hidden.id, organisation.id('bot'));
    expect(await listed('bot', { include_owner_subscribed: true })).toEqual([open.id, hidden.id]);
    expect(await listed('member', { include_owner_subscribed: true })).toEqual([]);
  });

  describe('the notification settings of a subscription', () => {
    const notifications = async (capabilities: Record<string, boolean>, field = 'subscriptions') => {
      const body = await organisation.do('second', 'POST', 'register', {
        event_types: ['subscription'],
        client_capabilities: capabilities,
      });
      const [own] = (body[field] as Records).filter(({ stream_id }) => stream_id === id);
      return [
        own?.desktop_notifications,
        own?.audible_notifications,
        own?.push_notifications,
        own?.email_notifications,
        own?.wildcard_mentions_notify,
      ];
    };
    let id: ChannelId;

    it('are null by default, and are replaced by the user’s settings for clients without support for null', async () => {
      ({ id } = await addChannel(organisation, { members: ['second'] }));
      const settings = { enable_stream_push_notifications: true, wildcard_mentions_notify: false };
      await organisation.do('second', 'PATCH', 'settings', settings);
      const nothing = [null, null, null, null, null];
      expect(await notifications({ notification_settings_null: true })).toEqual(nothing);
      expect(await notifications({ notification_settings_null: false })).toEqual([
        ...[false, false, true, false, false],
      ]);
      const subscription_data = [{ stream_id: id, property: 'push_notifications', value: false }];
      await organisation.do('second', 'POST', 'users/me/subscriptions/properties', { subscription_data });
      expect(await notifications({ notification_settings_null: true })).toEqual([
        ...[null, null, false, null, null],
      ]);
      expect(await notifications({})).toEqual([false, false, false, false, false]);
      await subscribe(organisation, id, organisation.id('second'), false);
      expect(await notifications({}, 'unsubscribed')).toEqual([false, false, false, false, false]);
    });
  });
});

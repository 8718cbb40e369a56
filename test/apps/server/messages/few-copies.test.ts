import type { ChannelId } from '@waxwing/protocol';
import { isPostgres, rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { readOfChannels } from '#server/conversations/messages/flags/read-of-channels.js';
import type { SentMessage } from '#server/conversations/messages/message-events.js';
import { findWindow } from '#server/conversations/messages/narrow/find-window.js';
import { readNarrowCondition } from '#server/conversations/messages/narrow/narrow-condition.js';
import { newestMessageId } from '#server/conversations/messages/newest-message.js';
import { notifyOfMessages } from '#server/conversations/messages/push/notify-of-messages.js';
import { readUnread } from '#server/conversations/messages/state/unread-messages.js';
import { roles } from '#server/platform/authentication/roles.js';
import type { ServerTransaction } from '#server/tables.js';
import { plansOf } from '../../../support/query-plans.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addChannel } from './chat-under-test.js';
import { post } from './edit/moves-under-test.js';

const realm = { url: 'https://chat.example.com' };
/**
 * Number of newer messages that the user cannot read: more than the number of newest messages that the server checks
 * first.
 */
const unreadable = 120;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const reader = () => ({ id: organisation.id('guest'), role: roles.guest });
  const db = () => organisation.server.server.database.db;
  let own = 0;
  let ownChannel: ChannelId;

  beforeAll(async () => {
    const open = await addChannel(organisation, { members: ['member'] });
    const shared = await addChannel(organisation, { isPrivate: true, members: ['guest', 'member'] });
    ownChannel = shared.id;
    [own = 0] = await post(organisation, { channelId: shared.id });
    await post(organisation, ...Array.from({ length: unreadable }, () => ({ channelId: open.id })));
  });

  it('a user’s messages are found by the user’s own copies, without a scan of all messages', async () => {
    const { messages } = await organisation.do('guest', 'GET', 'messages', {
      anchor: 'newest',
      num_before: 10,
      num_after: 0,
    });
    expect((messages as { id: number }[]).map(({ id }) => id)).toEqual([own]);
    for (const terms of [[], [{ operator: 'is', operand: 'unread', isNegated: true }]]) {
      const plans = await plansOf(db(), async (watched) => {
        const narrow = await readNarrowCondition(watched, realm, reader(), terms);
        const window = { includesAnchor: true, before: 10, after: 10 };
        await findWindow(watched, reader(), narrow, { ...window, anchor: 'newest' }, 'whole');
        await findWindow(watched, reader(), narrow, { ...window, anchor: own }, 'whole');
      });
      expect(plans).toMatch(/user_messages_user\b/);
      expect(plans).not.toMatch(/SCAN messages|Seq Scan on messages/);
    }
  });

  it('a user’s newest readable message is looked up by index for the user and register responses', async () => {
    const plans = await plansOf(db(), (watched) => newestMessageId(watched, reader()));
    expect(plans).toMatch(/user_messages_user\b/);
    expect(plans).toMatch(/messages_channel\b/);
    expect(plans).not.toMatch(/SCAN messages|Seq Scan on messages/);
    for (const [who, newest] of [
      ['guest', own],
      ['member', own + unreadable],
      ['second', own + unreadable],
    ] as const) {
      expect((await organisation.do(who, 'GET', 'users/me')).max_message_id).toBe(newest);
      const state = await organisation.do(who, 'POST', 'register', { event_types: ['message'] });
      expect(state.max_message_id).toBe(newest);
    }
  });

  it('push devices are looked up only for users with a copy of the message', async () => {
    const message = {
      id: own,
      senderId: organisation.id('member'),
      channelId: ownChannel,
      topic: 'greetings',
    };
    const copies = [{ userId: organisation.id('guest'), flags: 0 }];
    // The planner would scan a small table, so this table must be large.
    if (isPostgres(db())) {
      await sql`
        insert into push_devices (user_id, push_account_id, generation, registration_hash, changed_at, relay_device_id)
        select 1000000 + n, n, 1, '', 0, n from generate_series(1, 100000) as n`.execute(db());
      await sql`analyze push_devices`.execute(db());
    }
    const told = { message, copies, rendered: { mentions: {} } } as unknown as SentMessage;
    const plans = await plansOf(db(), (watched) =>
      notifyOfMessages(
        { db: watched } as ServerTransaction,
        { clock: Date.now, database: organisation.server.server.database },
        [told],
      ),
    );
    // SQLite names the index of a unique constraint this way.
    expect(plans).toMatch(/push_devices_user_account\b|sqlite_autoindex_push_devices_1 \(user_id=\?\)/);
    expect(plans).not.toMatch(/SCAN push_devices|Seq Scan on push_devices|push_devices_relay_device/);
  });

  it('a user’s unread messages are found without a scan of the read messages', async () => {
    const plans = await plansOf(db(), (watched) => readUnread(watched, reader(), { knowsEmptyTopic: true }));
    expect(plans).toMatch(/user_messages_unread\b/);
  });

  it('a user’s unread messages of a channel are found among the user’s own copies', async () => {
    const others = Array.from({ length: 40_000 }, (_, index) => ({
      user_id: 1_000_000 + (index % 40),
      message_id: 1_000_000 + index,
    }));
    const columns = { user_id: 'integer', message_id: 'integer' } as const;
    await sql`
      insert into user_messages (user_id, message_id, flags)
      select v.user_id, v.message_id, 0 from ${rowsAsTable(db(), 'v', columns, others)}`.execute(db());
    if (isPostgres(db())) await sql`analyze user_messages`.execute(db());
    const memberships = [{ channelId: ownChannel, userId: organisation.id('guest') }];
    const plans = await plansOf(db(), (watched) =>
      watched.transaction().execute((transaction) => readOfChannels(transaction, memberships)),
    );
    const lines = plans.split('\n');
    // PostgreSQL prints the index condition on the line after the index.
    const found = lines.flatMap((line, index) =>
      /user_messages_\w+|(?:SCAN|SEARCH) (?:copy|user_messages)/.test(line)
        ? `${line} ${lines[index + 1]}`
        : [],
    );
    expect(found).not.toEqual([]);
    expect(found.filter((each) => !each.includes('user_id'))).toEqual([]);
  });
});

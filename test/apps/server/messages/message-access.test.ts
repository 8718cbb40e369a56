import type { ChannelId, MessageId } from '@waxwing/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ChannelAccess, readChannelAccess } from '#server/conversations/channels/channel-access.js';
import { findChannels } from '#server/conversations/channels/channel-store.js';
import { findReadableMessages, readsMessage } from '#server/conversations/messages/message-access.js';
import { storePermission } from '#server/people/permissions/permission-store.js';
import { roles } from '#server/platform/authentication/roles.js';
import { messageId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addChannel, subscribe } from './chat-under-test.js';
import { post } from './edit/moves-under-test.js';

/** A channel of each kind, with one message from before the reader joined and one message from afterwards. */
const kinds = [
  { kind: 'web-public', wish: { isWebPublic: true } },
  { kind: 'public', wish: {} },
  { kind: 'shared', wish: { isPrivate: true, isHistoryPublic: true } },
  { kind: 'protected', wish: { isPrivate: true, isHistoryPublic: false } },
] as const;
const all = kinds.flatMap(({ kind }) => [`${kind}: before`, `${kind}: since`]);
const webPublic = all.slice(0, 2);
const open = all.slice(0, 4);
const allButProtectedHistory = all.filter((name) => name !== 'protected: before');

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const database = () => organisation.server.server.database;

  describe.each([
    { who: 'second', role: roles.member, asStranger: open, whereJoinable: allButProtectedHistory },
    { who: 'guest', role: roles.guest, asStranger: webPublic, whereJoinable: webPublic },
  ] as const)('messages that $who can read', ({ who, role, asStranger, whereJoinable }) => {
    const messages = new Map<string, { id: MessageId; channelId: ChannelId }>();
    const reader = () => ({ id: organisation.id(who), role });
    const eachChannel = async (act: (channelId: ChannelId) => Promise<unknown>) => {
      for (const id of new Set([...messages.values()].map(({ channelId }) => channelId))) await act(id);
    };
    const leaveAll = () => eachChannel((id) => subscribe(organisation, id, reader().id, false));

    beforeEach(async () => {
      messages.clear();
      for (const { kind, wish } of kinds) {
        const { id: channelId } = await addChannel(organisation, wish);
        const [before = 0] = await post(organisation, { channelId });
        await subscribe(organisation, channelId, reader().id);
        const [since = 0] = await post(organisation, { channelId });
        messages.set(`${kind}: before`, { id: messageId(before), channelId });
        messages.set(`${kind}: since`, { id: messageId(since), channelId });
      }
    });

    /** The messages that the SQL statement finds. They must match the rule. */
    async function readable(): Promise<string[]> {
      const { db } = database();
      const ids = [...messages.values()].map(({ id }) => id);
      const found = new Set((await findReadableMessages(db, reader(), ids)).map(({ id }) => id));
      const readNames = [...messages.keys()].filter((name) =>
        found.has(messages.get(name)?.id ?? messageId(0)),
      );
      expect(await readByRule(ids)).toEqual(readNames);
      return readNames;
    }

    async function readByRule(ids: readonly MessageId[]): Promise<string[]> {
      const { db } = database();
      const channelIds = [...messages.values()].map(({ channelId }) => channelId);
      const access = await readChannelAccess(db, reader(), await findChannels(db, channelIds));
      const copies = await db
        .selectFrom('user_messages')
        .select('message_id')
        .where('user_id', '=', reader().id)
        .where('message_id', 'in', ids)
        .execute();
      const copied = new Set(copies.map(({ message_id }) => message_id));
      return [...messages].flatMap(([name, { id, channelId }]) =>
        readsMessage({
          kind: 'channel',
          access: access.get(channelId) as ChannelAccess,
          hasCopy: copied.has(id),
        })
          ? [name]
          : [],
      );
    }

    it('include all messages of the user’s channels except protected history', async () => {
      expect(await readable()).toEqual(allButProtectedHistory);
    });

    it('include only messages of open channels after the user has left all channels, even if the user still has copies of other messages', async () => {
      await leaveAll();
      expect(await readable()).toEqual(asStranger);
    });

    it.each(['can_subscribe_group', 'can_add_subscribers_group'] as const)(
      'also include messages of private channels where everyone has %s, except for guests',
      async (name) => {
        await leaveAll();
        const everyone = await organisation.roleGroup('everyone');
        await eachChannel((ownerId) =>
          database().write(({ db }) => storePermission(db, { level: 'channel', ownerId, name }, everyone)),
        );
        expect(await readable()).toEqual(whereJoinable);
      },
    );
  });
});

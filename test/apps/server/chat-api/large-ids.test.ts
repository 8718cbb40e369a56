import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

/** The smallest positive integer that a double cannot represent. */
const large = 2n ** 53n + 1n;
const rounded = String(2n ** 53n);

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  type Method = Parameters<typeof organisation.ask>[1];
  const only = `{"new": {"direct_members": [${large}], "direct_subgroups": []}}`;

  // A rounded number would pass this check, because the ID is looked up later.
  const notInteger = (name: string) => `Invalid ${name}: must be an integer`;
  const narrowTerm =
    'Invalid narrow[0]: must be an operator and its operand: a string, an integer, or a list of these';
  const group = 'Invalid can_send_message_group["new"]: must be a group id, or members and subgroups';
  const requests: readonly (readonly [Method, string, Record<string, string>, string])[] = [
    ['GET', `messages/${large}`, {}, notInteger('message_id')],
    ['GET', `messages/${large}/history`, {}, notInteger('message_id')],
    ['PATCH', `messages/${large}`, { content: 'x' }, notInteger('message_id')],
    ['PATCH', 'messages/MESSAGE', { stream_id: `${large}` }, notInteger('stream_id')],
    ['DELETE', `messages/${large}`, {}, notInteger('message_id')],
    [
      'POST',
      'messages',
      { type: 'channel', to: `${large}`, topic: 'a', content: 'x' },
      'Invalid data type for channel',
    ],
    [
      'POST',
      'messages',
      { type: 'direct', to: `[${large}]`, content: 'x' },
      'Recipient list may only contain user IDs, or only email addresses',
    ],
    [
      'POST',
      'messages/flags',
      { messages: `[${large}]`, op: 'add', flag: 'starred' },
      notInteger('messages[0]'),
    ],
    ['GET', 'messages', { message_ids: `[${large}]` }, notInteger('message_ids[0]')],
    ['GET', 'messages', { anchor: 'newest', narrow: `[["channel", ${large}]]` }, narrowTerm],
    [
      'GET',
      'messages',
      { anchor: 'newest', narrow: `[{"operator": "id", "operand": ${large}}]` },
      narrowTerm,
    ],
    ['GET', `users/me/${large}/topics`, {}, notInteger('stream_id')],
    ['GET', `users/${large}`, {}, 'No such user'],
    ['GET', 'users', { user_ids: `[${large}]` }, notInteger('user_ids[0]')],
    ['PATCH', `streams/${large}`, { description: 'x' }, notInteger('stream_id')],
    ['PATCH', 'streams/CHANNEL', { folder_id: `${large}` }, 'Invalid folder_id: must be an integer or null'],
    ['PATCH', 'streams/CHANNEL', { can_send_message_group: `{"new": ${large}}` }, group],
    ['PATCH', 'streams/CHANNEL', { can_send_message_group: only }, group],
    ['POST', 'invites/multiuse', { stream_ids: `[${large}]` }, notInteger('stream_ids[0]')],
    ['POST', 'invites/multiuse', { group_ids: `[${large}]` }, notInteger('group_ids[0]')],
    ['GET', 'events', { queue_id: 'QUEUE', last_event_id: `${large}` }, notInteger('last_event_id')],
  ];

  describe('an ID too large for a double', () => {
    it.each(requests)(
      'is refused instead of rounded by %s %s with %j',
      async (method, path, parameters, sentence) => {
        const { id: channel } = await addChannel(organisation, { members: ['owner'] });
        const sent = { type: 'channel', to: channel, topic: 'a', content: 'a' };
        const { id: message } = await organisation.do('owner', 'POST', 'messages', sent);
        const { queue_id: queue } = await organisation.do('owner', 'POST', 'register', { event_types: [] });
        const place = (text: string) =>
          text
            .replace('CHANNEL', String(channel))
            .replace('MESSAGE', String(message))
            .replace('QUEUE', String(queue));
        const fields = Object.fromEntries(
          Object.entries(parameters).map(([name, value]) => [name, place(value)]),
        );
        const { status, body } = await organisation.ask('owner', method, place(path), fields);
        expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', sentence]);
        expect(JSON.stringify(body)).not.toContain(rounded);
      },
    );

    it('is an anchor after every message, and the response has an anchor that clients can represent', async () => {
      const { id: channel } = await addChannel(organisation, { members: ['owner'] });
      const sent = { type: 'channel', to: channel, topic: 'a', content: 'a' };
      const { id } = await organisation.do('owner', 'POST', 'messages', sent);
      const asked = { anchor: String(large), num_before: 1, narrow: [['channel', channel]] };
      const { messages, anchor } = await organisation.do('owner', 'GET', 'messages', asked);
      expect(messages).toMatchObject([{ id }]);
      expect(anchor).toBe(10_000_000_000_000_000);
    });
  });
});

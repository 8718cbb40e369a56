import type { OrganisationUnderTest } from '../organisation-under-test.js';
import type { LargeOrganisation } from './large-organisation.js';

type Act = () => Promise<unknown>;

/**
 * The operations on the chat API page, and the operations that clients use most, in an order that allows each to run
 * once.
 */
export async function measuredOperations(
  organisation: OrganisationUnderTest,
  { smallId }: LargeOrganisation,
): Promise<Record<string, Act>> {
  const send = (topic = 'one', fields: Record<string, unknown> = {}) =>
    organisation.do('member', 'POST', 'messages', {
      type: 'channel',
      to: smallId,
      topic,
      content: 'hello',
      ...fields,
    });
  const edited = (await send()).id;
  const moved = (await send('old')).id;
  const other = 'other';
  await organisation.do('owner', 'POST', 'users/me/subscriptions', { subscriptions: [{ name: other }] });
  const { stream_id: otherId } = await organisation.do('owner', 'GET', 'get_stream_id', { stream: other });
  const { queue_id: queueId } = await organisation.do('member', 'POST', 'register', {
    fetch_event_types: [],
  });
  const member = organisation.id('member');
  return {
    send,
    'send a link to a channel': () => send('one', { content: 'hello in #**other**' }),
    'send a direct message': () => send('', { type: 'direct', to: [organisation.id('second')] }),
    'edit a message': () =>
      organisation.do('member', 'PATCH', `messages/${edited}`, { content: 'hello, @**owner**' }),
    'move a message': () =>
      organisation.do('owner', 'PATCH', `messages/${moved}`, { stream_id: otherId, topic: 'new' }),
    'read the history': () => organisation.do('member', 'GET', `messages/${edited}/history`),
    'update a channel': () =>
      organisation.do('owner', 'PATCH', `streams/${smallId}`, { description: 'text' }),
    'make a channel private': () =>
      organisation.do('owner', 'PATCH', `streams/${smallId}`, { is_private: true }),
    'update a user': () =>
      organisation.do('owner', 'PATCH', 'users/second@example.com', { full_name: 'Second', role: 300 }),
    'create a profile field': () =>
      organisation.do('owner', 'POST', 'realm/profile_fields', { name: 'Phone', field_type: 1 }),
    'create an invitation': () => organisation.do('owner', 'POST', 'invites/multiuse', { invite_as: 400 }),
    'get users by id': () => organisation.do('member', 'GET', 'users', { user_ids: [member] }),
    'add a playground': () =>
      organisation.do('owner', 'POST', 'realm/playgrounds', {
        name: 'Play',
        pygments_language: 'Rust',
        url_template: 'https://play.example.com/{code}',
      }),
    'set a flag': () =>
      organisation.do('member', 'POST', 'messages/flags', { messages: [edited], op: 'add', flag: 'starred' }),
    subscribe: () =>
      organisation.do('owner', 'POST', 'users/me/subscriptions', {
        subscriptions: [{ name: 'small' }],
        principals: [organisation.id('second')],
      }),
    register: () =>
      organisation.do('member', 'POST', 'register', {
        event_types: ['message', 'update_message', 'update_message_flags', 'typing', 'muted_topics'],
        all_public_streams: true,
      }),
    'delete a message': () => organisation.do('owner', 'DELETE', `messages/${edited}`),
    'delete an event queue': () =>
      organisation.do('member', 'DELETE', 'events', { queue_id: String(queueId) }),
  };
}

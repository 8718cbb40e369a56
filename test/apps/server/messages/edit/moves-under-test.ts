import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { KnownLinkifiers } from '#server/content/linkifiers/known-linkifiers.js';
import { type NewMessage, sendMessages } from '#server/conversations/messages/insert-messages.js';
import type { Message } from '#server/conversations/messages/message-store.js';
import { renderContents } from '#server/conversations/messages/render-content.js';
import { roles } from '#server/platform/authentication/roles.js';
import { createPublisher } from '#server/platform/event-queues/publish-events.js';
import type { ServerTransaction } from '#server/tables.js';
import { messageId } from '../../../../support/ids.js';
import type { OrganisationUnderTest } from '../../organisation-under-test.js';

type Who = Parameters<OrganisationUnderTest['id']>[0];

export interface Draft {
  readonly by?: Who;
  readonly channelId?: ChannelId;
  readonly topic?: string;
  readonly content?: string;
  /** The recipients of a direct message, including the sender. */
  readonly to?: readonly Who[];
  /** Age in seconds, by the organization's clock. */
  readonly ageSeconds?: number;
}

const realm = {
  uuid: 'e1a3ad8e-6aa0-4b4f-8b6e-5f4bf3d0f8f8',
  url: 'https://chat.example.com',
  name: 'Example',
};

/** Sends messages without permission checks. Returns their IDs. */
export async function post(organisation: OrganisationUnderTest, ...drafts: Draft[]): Promise<MessageId[]> {
  const { database } = organisation.server.server;
  const sent: Message[] = [];
  for (const draft of drafts) {
    const { by = 'member', channelId, topic = 'lunch', content = 'hello', to = [], ageSeconds = 60 } = draft;
    const clock = () => organisation.server.now - ageSeconds * 1000;
    const publish = createPublisher({ notify: async () => undefined }, () => organisation.server.now);
    const destination: NewMessage['destination'] =
      channelId === undefined
        ? { kind: 'direct', userIds: to.map((who) => organisation.id(who)) }
        : { kind: 'channel', channelId, topic };
    sent.push(
      ...(await database.write(async (transaction: ServerTransaction) => {
        const senderId: UserId = organisation.id(by);
        const author = { id: senderId, role: roles.member };
        const rendering = { realm, linkifiers: new KnownLinkifiers(database.signals, clock) };
        const rendered = await renderContents(transaction.db, rendering, author, [content]);
        const message = { senderId, destination, content, client: 'test', readBy: [senderId] };
        const all = rendered.map((html) => ({ ...message, rendered: html }));
        return (await sendMessages(transaction, { clock, publish, realm }, all)).map(
          ({ message }) => message,
        );
      })),
    );
  }
  return sent.map(({ id }) => id);
}

/** The stored row of a message. */
export function stored(organisation: OrganisationUnderTest, id: number) {
  return organisation.server.server.database.db
    .selectFrom('messages')
    .selectAll()
    .where('id', '=', messageId(id))
    .executeTakeFirst();
}

/** The texts of a topic's messages, oldest first. */
export async function textsIn(
  organisation: OrganisationUnderTest,
  channelId: ChannelId,
  topic: string,
): Promise<string[]> {
  const rows = await organisation.server.server.database.db
    .selectFrom('messages')
    .select('content')
    .where('channel_id', '=', channelId)
    .where('topic_lower', '=', topic.toLowerCase())
    .orderBy('id')
    .execute();
  return rows.map(({ content }) => content);
}

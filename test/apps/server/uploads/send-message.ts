import type { ChannelId, MessageId } from '@waxwing/protocol';
import { KnownLinkifiers } from '#server/content/linkifiers/known-linkifiers.js';
import { type Destination, sendMessages } from '#server/conversations/messages/insert-messages.js';
import { renderContents } from '#server/conversations/messages/render-content.js';
import { roles } from '#server/platform/authentication/roles.js';
import { createPublisher } from '#server/platform/event-queues/publish-events.js';
import type { ServerTransaction } from '#server/tables.js';
import { messageId } from '../../../support/ids.js';
import type { OrganisationUnderTest } from '../organisation-under-test.js';

export type Sender = 'owner' | 'member' | 'second' | 'guest';

/** Sends a message with this content. Returns its ID. */
export async function sendMessage(
  organisation: OrganisationUnderTest,
  who: Sender,
  destination: Destination,
  content: string,
): Promise<MessageId> {
  const { database } = organisation.server.server;
  const realm = { uuid: 'unused', url: 'https://chat.example.com', name: 'Example' };
  const clock = () => organisation.server.now;
  const publish = createPublisher({ notify: async () => undefined }, clock);
  const author = { id: organisation.id(who), role: who === 'second' ? roles.member : roles[who] };
  return database.write(async (transaction: ServerTransaction) => {
    const rendering = { realm, linkifiers: new KnownLinkifiers(database.signals, clock) };
    const [rendered] = await renderContents(transaction.db, rendering, author, [content]);
    if (rendered === undefined) throw new Error('nothing was rendered');
    const message = { senderId: author.id, destination, content, rendered, client: 'test' };
    const [sent] = await sendMessages(transaction, { clock, publish, realm }, [message]);
    return sent?.message.id ?? messageId(0);
  });
}

export const toChannel = (channelId: ChannelId): Destination => ({
  kind: 'channel',
  channelId,
  topic: 'files',
});

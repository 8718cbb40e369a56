import { askServer } from './ask-server.js';
import type { QuickstartUser } from './provision-server.js';

export const channelName = 'general';
export const topicName = 'hello';

/** Data that the user needs to try the chat. */
export interface ExistingChat {
  /** URL of the page where another user can join. */
  readonly invitationUrl: string;
  /** The owner's event queue, which receives message events for a week. */
  readonly queueId: string;
}

/** Subscribes all users to one public channel, which the owner creates at the first start. */
export async function provisionChannel(
  serverUrl: string,
  owner: QuickstartUser,
  userIds: readonly number[],
): Promise<void> {
  await askServer(serverUrl, owner, ['POST', 'users/me/subscriptions'], {
    subscriptions: JSON.stringify([{ name: channelName, description: 'A channel for all users.' }]),
    principals: JSON.stringify(userIds),
  });
}

/** Sends a message to the channel as the owner. Returns its id. */
export async function sendToChannel(
  serverUrl: string,
  owner: QuickstartUser,
  content: string,
): Promise<number> {
  const { id } = await askServer<{ id: number }>(serverUrl, owner, ['POST', 'messages'], {
    type: 'channel',
    to: channelName,
    topic: topicName,
    content,
  });
  return id;
}

export async function provisionGoingOn(serverUrl: string, owner: QuickstartUser): Promise<ExistingChat> {
  const { invite_link: invitationUrl } = await askServer<{ invite_link: string }>(
    serverUrl,
    owner,
    ['POST', 'invites/multiuse'],
    { include_realm_default_subscriptions: 'true' },
  );
  const { queue_id: queueId } = await askServer<{ queue_id: string }>(
    serverUrl,
    owner,
    ['POST', 'register'],
    {
      event_types: JSON.stringify(['message', 'update_message']),
      fetch_event_types: '[]',
      queue_lifespan_secs: String(7 * 24 * 60 * 60),
    },
  );
  return { invitationUrl, queueId };
}

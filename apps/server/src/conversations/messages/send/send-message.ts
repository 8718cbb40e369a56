import type { RenderedMarkdown } from '@waxwing/markdown';
import type { ChannelId, UserId } from '@waxwing/protocol';
import { booleanParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../../context.js';
import { user } from '../../../platform/authentication/authenticate.js';
import type { KnownUser } from '../../../platform/authentication/credential-store.js';
import type { ServerTransaction } from '../../../tables.js';
import { findChannels, lockChannels } from '../../channels/channel-store.js';
import { clientName } from '../client-name.js';
import { type Destination, sendMessages } from '../insert-messages.js';
import { checkMentions, readMentionRights } from '../mention-rules.js';
import { notifyOfMessages } from '../push/notify-of-messages.js';
import { readTopicSenders, topicId } from '../recipients.js';
import { renderContents } from '../render-content.js';
import { followAutomatically } from '../topics/follow-automatically.js';
import {
  type ChannelTarget,
  planTarget,
  readChannelSending,
  readNewTopic,
  type SendingSource,
} from './channel-message.js';
import { planParticipants, readDirectSending } from './direct-message.js';
import { type LinkedPlace, writeMessageLinks } from './message-links.js';
import { readNewContent } from './message-text.js';
import {
  type NamedChannel,
  type NamedRecipient,
  readChannelName,
  readRecipientNames,
} from './read-destination.js';

/**
 * Maximum length, in UTF-16 code units, of a text that is rendered before the destination is checked. For such a text,
 * the check takes longer than the rendering.
 */
const shortText = 500;

/** The destination that the sender requested. */
type Asked =
  | { readonly kind: 'channel'; readonly named: NamedChannel; readonly topic: string }
  | { readonly kind: 'direct'; readonly names: readonly NamedRecipient[] };

/** Names of interactive clients. A message sent from such a client counts as read by its sender. */
const readingClients = /zulip(electron|desktop|mobile|flutter|terminal)?|flutter|terminal|website|mozilla/i;

/**
 * `POST /api/v1/messages` (docs/chat-api.md#common-conventions): sends a message to a channel's topic or to users.
 * Publishes an event to all recipients. In the sender's queue `queue_id`, the event also has `local_id`. Errors:
 *
 * - STREAM_DOES_NOT_EXIST if the channel does not exist or the sender cannot see it
 * - STREAM_WILDCARD_MENTION_NOT_ALLOWED or TOPIC_WILDCARD_MENTION_NOT_ALLOWED if the message would mention too many
 *   users
 * - BAD_REQUEST for empty text, unknown recipients, and missing permissions in the organization, channel or group
 */
export const sendMessage = operation({
  method: 'POST',
  path: '/api/v1/messages',
  summary: 'Sends a message to a topic of a channel, or to users.',
  actor: user,
  parameters: z.object({
    type: z.enum(['channel', 'stream', 'direct', 'private'], 'must be channel, stream, direct or private'),
    to: z.string(),
    topic: z.string().optional(),
    content: z.string(),
    queue_id: z.string().max(100).optional(),
    local_id: z.string().max(100).optional(),
    read_by_sender: booleanParameter.optional(),
  }),
  aliases: { subject: 'topic' },
  bodyLimitBytes: 512 * 1024,
  sharesCommits: true,
  answer: z.object({
    id: z.number().int(),
    /** URL that opens the message in its conversation in web clients. */
    message_url: z.string(),
    /** Markdown link with the names of the channel and topic. For direct messages, the URL. */
    message_link: z.string(),
    /** The sender's new policy for the topic: 3 if the sender now follows it, 2 if it is now unmuted. */
    automatic_new_visibility_policy: z.number().int().optional(),
  }),
  codes: [
    'BAD_REQUEST',
    'STREAM_DOES_NOT_EXIST',
    'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
    'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
  ],
  async handle(context: ServerContext, request) {
    const { actor, parameters, head } = request;
    const { database, realm } = context;
    const { queue_id: queueId, local_id: localId } = parameters;
    const content = readNewContent(parameters.content);
    const asked = readAsked(parameters);
    const client = clientName(head.header('user-agent'));
    const isRead = parameters.read_by_sender ?? (!actor.isBot && readingClients.test(client));
    // For a long message, checks the destination first, to avoid rendering a message that cannot be sent.
    if (content.length > shortText) {
      const { db } = database;
      const findThem = (ids: readonly ChannelId[]) => findChannels(db, ids);
      await decideTarget({ db, findChannels: findThem }, realm, { sender: actor, asked });
    }
    // Renders before the transaction: rendering is the slowest step, and no locks should be held during it.
    const rendering = { ...context, nextTick: () => request.nextTick() };
    const [rendered] = (await renderContents(database.db, rendering, actor, [content])) as [RenderedMarkdown];
    return actor.change(async (transaction, sender) => {
      const decided = await decide(transaction, context, { sender, asked, rendered });
      const { destination, target } = decided;
      const [sent] = await sendMessages(transaction, context, [
        {
          senderId: sender.id,
          destination,
          content,
          rendered,
          client,
          readBy: isRead ? [sender.id] : [],
          ...(queueId === undefined || localId === undefined ? {} : { echo: { queueId, localId } }),
        },
      ]);
      if (sent === undefined) throw new Error('a message was not sent');
      await notifyOfMessages(transaction, context, [sent]);
      const policy =
        target && (await followAutomatically(transaction, context, { sent, isTopicNew: target.isTopicNew }));
      return {
        id: sent.message.id,
        ...writeMessageLinks(sent.message.id, linkedPlace(sender.id, decided), realm.url),
        ...(policy === undefined ? {} : { automatic_new_visibility_policy: policy }),
      };
    });
  },
});

function linkedPlace(senderId: UserId, { destination, target }: Decided): LinkedPlace {
  if (destination.kind === 'direct') return { ...destination, senderId };
  return { ...destination, channelName: target?.access.channel.name ?? '' };
}

function readAsked({
  type,
  to,
  topic,
}: {
  readonly type: string;
  readonly to: string;
  readonly topic?: string | undefined;
}): Asked {
  if (type === 'direct' || type === 'private') return { kind: 'direct', names: readRecipientNames(to) };
  return { kind: 'channel', named: readChannelName(to), topic: readNewTopic(topic) };
}

interface Sending {
  readonly sender: KnownUser;
  readonly asked: Asked;
}

interface Decided {
  readonly destination: Destination;
  /** Present only for a message to a channel. */
  readonly target?: ChannelTarget;
}

/**
 * Checks the destination, independently of the content.
 * @throws ProtocolError if the sender may not send there.
 */
async function decideTarget(
  source: SendingSource,
  realm: ServerContext['realm'],
  { sender, asked }: Sending,
): Promise<Decided> {
  if (asked.kind === 'direct') {
    const facts = await readDirectSending(source.db, realm, sender, asked.names);
    return { destination: { kind: 'direct', userIds: planParticipants(facts) } };
  }
  const target = planTarget(await readChannelSending(source, sender, asked), asked.named);
  const { access, topic } = target;
  return { destination: { kind: 'channel', channelId: access.channel.id, topic }, target };
}

/**
 * Checks the destination and the mentions, and locks the channel until the transaction ends.
 * @throws ProtocolError if the sender may not send there.
 */
async function decide(
  transaction: ServerTransaction,
  { realm }: ServerContext,
  { rendered, ...sending }: Sending & { readonly rendered: RenderedMarkdown },
): Promise<Decided> {
  const { db } = transaction;
  const { sender } = sending;
  const { mentions } = rendered;
  const lockThem = (ids: readonly ChannelId[]) => lockChannels(transaction, ids);
  const decided = await decideTarget({ db, findChannels: lockThem }, realm, sending);
  const { destination } = decided;
  const rights = await readMentionRights(db, sender, mentions);
  if (destination.kind === 'direct') {
    checkMentions({ ...rights, mentions, mayMentionMany: true, subscribers: 0, participants: 0 });
    return decided;
  }
  const { channelId, topic } = destination;
  const participants = mentions.topicWildcard
    ? await readTopicSenders(db, [{ channelId, topic }])
    : undefined;
  checkMentions({
    ...rights,
    mentions,
    subscribers: mentions.channelWildcard ? await countSubscribers(transaction, channelId) : 0,
    participants: participants?.get(topicId({ channelId, topic }))?.size ?? 0,
  });
  return decided;
}

async function countSubscribers({ db }: ServerTransaction, channelId: ChannelId): Promise<number> {
  const { count } = await db
    .selectFrom('subscriptions')
    .innerJoin('users', 'users.id', 'subscriptions.user_id')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('channel_id', '=', channelId)
    .where('subscriptions.is_active', '=', 1)
    .where('users.is_active', '=', 1)
    .executeTakeFirstOrThrow();
  return Number(count);
}

import { refused, type UserId } from '@waxwing/protocol';
import type { ChannelAccess } from '../../channels/channel-access.js';
import type { PermissionName } from '../../permissions/permission-settings.js';
import type { RealmSettingValues } from '../../realm/realm-settings.js';
import type { Message } from '../message-store.js';

/** Everything that the rules for deleting a message ask for. */
export interface RemovalFacts {
  /** Unix milliseconds. */
  readonly now: number;
  readonly actorId: UserId;
  /** Whose bot sent it; `undefined` where no bot that belongs to somebody did. */
  readonly botOwnerId: UserId | undefined;
  readonly settings: Pick<RealmSettingValues, 'message_content_delete_limit_seconds'>;
  /** Which permissions of the organisation the actor has. */
  readonly held: ReadonlySet<PermissionName<'realm'>>;
  /** `undefined` where there is none that the actor may read. */
  readonly message: Pick<Message, 'senderId' | 'sentAt'> | undefined;
  /** The message's channel, as the actor stands to it; `undefined` for direct messages. */
  readonly access: Pick<ChannelAccess, 'channel' | 'held'> | undefined;
}

/** @throws ProtocolError BAD_REQUEST with the reason why the actor may not delete the message. */
export function checkRemoval(facts: RemovalFacts): void {
  const { access, actorId, botOwnerId, held, message, now, settings } = facts;
  if (message === undefined || access?.channel.isArchived) throw refused('Invalid message(s)');
  const has = (name: 'can_delete_any_message_group' | 'can_delete_own_message_group') =>
    held.has(name) || access?.held.has(name) === true;
  if (has('can_delete_any_message_group')) return;
  const isOwn = message.senderId === actorId || botOwnerId === actorId;
  if (!isOwn || !has('can_delete_own_message_group'))
    throw refused("You don't have permission to delete this message");
  const limit = settings.message_content_delete_limit_seconds;
  if (limit !== null && now - message.sentAt > limit * 1000)
    throw refused('The time limit for deleting this message has passed');
}

import { refused, type UserId } from '@waxwing/protocol';
import type { PermissionName } from '../../../people/permissions/permission-settings.js';
import type { RealmSettingValues } from '../../../people/realm/realm-settings.js';
import type { ChannelAccess } from '../../channels/channel-access.js';
import type { Message } from '../message-store.js';

/** The input to the rules for deleting a message. */
export interface RemovalFacts {
  /** Unix milliseconds. */
  readonly now: number;
  readonly actorId: UserId;
  /**
   * The owner of the bot that sent the message. `undefined` if the sender is not a bot, or is a bot without an owner.
   */
  readonly botOwnerId: UserId | undefined;
  readonly settings: Pick<RealmSettingValues, 'message_content_delete_limit_seconds'>;
  /** Realm permissions that the actor has. */
  readonly held: ReadonlySet<PermissionName<'realm'>>;
  /** `undefined` if the message does not exist or the actor may not read it. */
  readonly message: Pick<Message, 'senderId' | 'sentAt'> | undefined;
  /** The actor's access to the message's channel. `undefined` for direct messages. */
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

import { refused } from '@waxwing/protocol';
import { checkMentions } from '../mention-rules.js';
import type { EditedMessage, EditFacts } from './edit-facts.js';
import { isWithin } from './edit-limits.js';
import { mayNotEdit } from './edit-refusals.js';

/**
 * Runs checks 2 to 4 in docs/chat-api.md#order-of-the-checks-of-an-edit: whether the actor may change the message's
 * content.
 */
export function checkContentPermission(
  { actor, now, settings }: Pick<EditFacts, 'actor' | 'now' | 'settings'>,
  { senderId, sentAt }: EditedMessage,
): void {
  if (!settings.allow_message_editing) throw refused('Your organization has turned off message editing');
  if (senderId !== actor.id) throw mayNotEdit();
  if (!isWithin(settings.message_content_edit_limit_seconds, now - sentAt))
    throw refused('The time limit for editing this message has passed');
}

/**
 * Runs check 19 in docs/chat-api.md#order-of-the-checks-of-an-edit: whether the actor may use the wildcard and group
 * mentions in the new content.
 */
export function checkContent({ content, held, origin }: EditFacts): void {
  if (content === undefined) return;
  const { forbiddenGroups, participants, references, subscribers } = content;
  const mayMentionMany = origin === undefined || held.has('can_mention_many_users_group');
  checkMentions({
    forbiddenGroups,
    mayMentionMany,
    mentions: references.mentions,
    participants: participants.size,
    subscribers,
  });
}

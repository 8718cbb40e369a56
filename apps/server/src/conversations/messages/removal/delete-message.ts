import type { MessageId } from '@waxwing/protocol';
import { noAnswer, operation } from '@waxwing/service/http';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { ServerContext } from '../../../context.js';
import type { PermissionName } from '../../../people/permissions/permission-settings.js';
import { readRealmSettings } from '../../../people/realm/realm-setting-store.js';
import { noChannel } from '../../../people/realm/realm-settings.js';
import { user } from '../../../platform/authentication/authenticate.js';
import type { KnownUser } from '../../../platform/authentication/credential-store.js';
import type { ServerTables, ServerTransaction } from '../../../tables.js';
import { readChannelAccess } from '../../channels/channel-access.js';
import { inOneChannel, lockMessage } from '../lock-message.js';
import { messageIdParameter } from '../message-id-parameter.js';
import { realmPermissionsOf } from '../realm-permissions-of.js';
import { checkRemoval } from './plan-removal.js';
import { removeMessages } from './remove-messages.js';

const asked = [
  'can_delete_any_message_group',
  'can_delete_own_message_group',
] as const satisfies PermissionName<'realm'>[];

/**
 * `DELETE /api/v1/messages/{message_id}`: deletes a message for all users. Users with the permission to delete any
 * message, in the organization or the channel, may do so at any time. Users with the permission to delete their own
 * messages may delete their messages and their bots' messages within `message_content_delete_limit_seconds`. Notifies
 * all readers of the message. Errors: BAD_REQUEST if the message does not exist, if the actor may not read or delete
 * it, or if its channel is archived.
 */
export const deleteMessage = operation({
  method: 'DELETE',
  path: '/api/v1/messages/{message_id}',
  summary: 'Deletes a message.',
  actor: user,
  parameters: z.object({ message_id: messageIdParameter }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    await inOneChannel(() =>
      actor.change((transaction, held) => remove(transaction, context, held, parameters.message_id)),
    );
    return {};
  },
});

async function remove(
  transaction: ServerTransaction,
  context: Pick<ServerContext, 'clock' | 'database' | 'publish'>,
  held: KnownUser,
  id: MessageId,
): Promise<'done' | 'moved'> {
  const { db } = transaction;
  const found = await lockMessage(transaction, held, id);
  if (found === 'moved') return 'moved';
  const { message, channels } = found;
  const access = (await readChannelAccess(db, held, channels)).get(message?.channelId ?? noChannel);
  checkRemoval({
    now: context.clock(),
    actorId: held.id,
    botOwnerId: message && (await ownerOf(db, message.senderId)),
    settings: await readRealmSettings(db),
    held: await realmPermissionsOf(db, held, asked),
    message,
    access,
  });
  if (message === undefined) return 'done';
  await removeMessages(transaction, context, {
    messages: [message],
    channel: access?.channel,
    actorId: held.id,
  });
  return 'done';
}

async function ownerOf(db: Kysely<ServerTables>, id: KnownUser['id']): Promise<KnownUser['id'] | undefined> {
  const row = await db.selectFrom('users').select('bot_owner_id').where('id', '=', id).executeTakeFirst();
  return row?.bot_owner_id ?? undefined;
}

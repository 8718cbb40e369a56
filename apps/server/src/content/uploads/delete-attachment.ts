import { refused } from '@waxwing/protocol';
import { integerParameter, noAnswer, operation } from '@waxwing/service/http';
import { lockingRows } from '@waxwing/storage';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import { readUsedBytes } from './upload-account.js';
import { removeLeftFile, withdrawUploads } from './withdraw-uploads.js';

/**
 * `DELETE /api/v1/attachments/{attachment_id}`: deletes one of the user's files, even if messages refer to it. Notifies
 * the owner's clients. Errors: BAD_REQUEST, with the same message, for a missing file and for another user's file.
 */
export const deleteAttachment = operation({
  method: 'DELETE',
  path: '/api/v1/attachments/{attachment_id}',
  summary: "Deletes one of the requester's uploaded files.",
  actor: user,
  parameters: z.object({ attachment_id: integerParameter }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters: { attachment_id: id } }) {
    const { clock, publish } = context;
    const now = clock();
    const pathId = await actor.change(async (transaction) => {
      const { db } = transaction;
      const found = await db
        .selectFrom('attachments')
        .select('path_id')
        .where('id', '=', id)
        .where('owner_id', '=', actor.id)
        .where('is_stored', '=', 1)
        .where('is_avatar', '=', 0)
        .modifyEnd(lockingRows(db))
        .executeTakeFirst();
      if (found === undefined) throw refused('Invalid attachment');
      await db.deleteFrom('attachment_messages').where('attachment_id', '=', id).execute();
      await withdrawUploads(transaction, [id], now);
      const upload_space_used = await readUsedBytes(db);
      const event = { type: 'attachment', op: 'remove', attachment: { id }, upload_space_used };
      await publish(transaction, [{ event, audience: [actor.id] }]);
      return found.path_id;
    });
    await removeLeftFile(context, { id, pathId });
    return {};
  },
});

import { ListAnswer, noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import { attachmentRecord, writeAttachments } from './attachment-record.js';
import { readUsedBytes } from './upload-account.js';
import { uploadPages } from './upload-store.js';

/**
 * `GET /api/v1/attachments`: returns the files that the user uploaded, each with the 100 newest messages that refer to
 * it, and the total bytes of all users' files. Streams the list in pages; each page is current when it is read.
 */
export const listAttachments = operation({
  method: 'GET',
  path: '/api/v1/attachments',
  summary: "Lists the requester's uploaded files.",
  actor: user,
  parameters: noParameters,
  answer: z.object({ attachments: z.array(attachmentRecord), upload_space_used: z.number().int() }),
  codes: [],
  async handle({ database: { db } }: ServerContext, { actor }) {
    const pages = async function* () {
      for await (const uploads of uploadPages(db, actor.id)) yield await writeAttachments(db, uploads);
    };
    return new ListAnswer('attachments', pages(), { upload_space_used: await readUsedBytes(db) });
  },
});

import { ProtocolError, refused } from '@waxwing/protocol';
import { booleanParameter, operation } from '@waxwing/service/http';
import { amongNumbers } from '@waxwing/storage';
import { sql } from 'kysely';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { spectator } from '../../people/permissions/spectator.js';
import { isMessageOnWeb } from '../../people/realm/public-access.js';
import { userOrSpectator } from '../../people/users/user-or-spectator.js';
import { messageFlags } from './message-flags.js';
import { messageIdParameter } from './message-id-parameter.js';
import { readMessageRecord, writeReadMessage } from './message-record.js';
import { findAmong } from './narrow/find-window.js';
import { readRelatedRecordsFor } from './related-records.js';

/**
 * `GET /api/v1/messages/{message_id}` (docs/chat-api.md#common-conventions): returns one message, with its Markdown
 * source. If the organization has public access, unauthenticated clients may read messages in web-public channels.
 * Errors: BAD_REQUEST if the message does not exist or the user may not read it; UNAUTHORIZED if an unauthenticated
 * client requests any other message.
 */
export const getMessage = operation({
  method: 'GET',
  path: '/api/v1/messages/{message_id}',
  summary: 'Returns a message.',
  actor: userOrSpectator,
  parameters: z.object({
    message_id: messageIdParameter,
    apply_markdown: booleanParameter.default(true),
    allow_empty_topic_name: booleanParameter.default(false),
  }),
  answer: z.object({ message: readMessageRecord, raw_content: z.string() }),
  codes: ['BAD_REQUEST'],
  async handle({ database: { db }, realm }: ServerContext, { actor, parameters }) {
    const { message_id: id, apply_markdown, allow_empty_topic_name } = parameters;
    const everything = {
      condition: actor === undefined ? isMessageOnWeb : sql<boolean>`true`,
      isAllReadable: false,
      hasHistory: true,
      hasIndex: true,
      search: undefined,
    };
    const [found] = await findAmong(db, actor ?? spectator, everything, amongNumbers(db, [id]), 'whole');
    if (found === undefined) {
      if (actor === undefined) throw new ProtocolError('UNAUTHORIZED');
      throw refused('Invalid message(s)');
    }
    const { message, flags } = found;
    const related = await readRelatedRecordsFor(db, realm, actor, [message]);
    const form = {
      appliesMarkdown: apply_markdown,
      makesAvatars: actor !== undefined,
      knowsEmptyTopic: allow_empty_topic_name,
    };
    return {
      message: writeReadMessage(message, actor === undefined ? messageFlags.read : flags, related, form),
      raw_content: message.content,
    };
  },
});

import { refused } from '@waxwing/protocol';
import { booleanParameter, ListAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../../context.js';
import { readRealmSetting } from '../../../people/realm/realm-setting-store.js';
import { user } from '../../../platform/authentication/authenticate.js';
import { messageIdParameter } from '../message-id-parameter.js';
import { readEditTexts, readMessageHistory } from './history-store.js';
import { messageSnapshot, messageSnapshots } from './message-snapshots.js';

/**
 * `GET /api/v1/messages/{message_id}/history` (docs/chat-api.md#2-get-a-messages-edit-history): returns the snapshots
 * of a message from the original to the current state, as far as the setting `message_edit_history_visibility_policy`
 * permits. Errors: BAD_REQUEST if the policy hides all history, and for messages that do not exist or that the actor
 * may not read.
 */
export const getMessageHistory = operation({
  method: 'GET',
  path: '/api/v1/messages/{message_id}/history',
  summary: "Returns a message's edit history.",
  actor: user,
  parameters: z.object({
    message_id: messageIdParameter,
    allow_empty_topic_name: booleanParameter.default(false),
  }),
  answer: z.object({ message_history: z.array(messageSnapshot) }),
  codes: ['BAD_REQUEST'],
  async handle({ database: { db } }: ServerContext, { actor, parameters }) {
    const { message_id: id, allow_empty_topic_name: knowsEmptyTopic } = parameters;
    const policy = await readRealmSetting(db, 'message_edit_history_visibility_policy');
    if (policy === 'none') {
      throw refused('Message edit history is disabled in this organization.');
    }
    const history = await readMessageHistory(db, actor, id);
    if (history === undefined) throw refused('Invalid message(s)');
    const readTexts = (ids: readonly number[]) => readEditTexts(db, ids);
    const snapshots = messageSnapshots({ ...history, readTexts }, { policy, knowsEmptyTopic });
    return new ListAnswer('message_history', snapshots, {});
  },
});

import { unixSeconds } from '@waxwing/service/lifecycle';
import { z } from 'zod';
import type { RealmSettingValues } from '../../people/realm/realm-settings.js';
import type { MessageEdit } from './history/newest-edits.js';
import { type MessageForm, writeTopic } from './message-form.js';

export type HistoryPolicy = RealmSettingValues['message_edit_history_visibility_policy'];

/** One edit or move in a message record's `edit_history`. */
export const editEntry = z.object({
  user_id: z.number().int(),
  timestamp: z.number().int(),
  prev_content: z.string().optional(),
  prev_rendered_content: z.string().optional(),
  prev_stream: z.number().int().optional(),
  stream: z.number().int().optional(),
  prev_topic: z.string().optional(),
  topic: z.string().optional(),
});

/**
 * Builds the `edit_history` of a message from the edits that the organization's policy lets users see. Keeps the order
 * of `edits`, newest first.
 */
export function writeEdits(
  edits: readonly MessageEdit[],
  policy: HistoryPolicy,
  form: Pick<MessageForm, 'knowsEmptyTopic'>,
): z.input<typeof editEntry>[] {
  if (policy === 'none') return [];
  const shown = edits.filter(
    (edit) => policy === 'all' || edit.prev_topic !== null || edit.prev_channel_id !== null,
  );
  return shown.map((edit) => ({
    user_id: edit.editor_id,
    timestamp: unixSeconds(edit.edited_at),
    ...(policy === 'all' && edit.prev_content !== null
      ? { prev_content: edit.prev_content, prev_rendered_content: edit.prev_rendered_content ?? '' }
      : {}),
    ...(edit.prev_channel_id === null
      ? {}
      : { prev_stream: edit.prev_channel_id, stream: edit.channel_id as number }),
    ...(edit.prev_topic === null
      ? {}
      : { prev_topic: writeTopic(edit.prev_topic, form), topic: writeTopic(edit.topic ?? '', form) }),
  }));
}

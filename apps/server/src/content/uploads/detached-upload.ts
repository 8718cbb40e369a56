import { z } from 'zod';
import type { Upload } from './upload-store.js';

/**
 * A file that is no longer referenced by any message (docs/chat-api.md, "Detached upload"). Times are Unix
 * milliseconds.
 */
export const detachedUpload = z.object({
  id: z.number().int(),
  name: z.string(),
  path_id: z.string(),
  size: z.number().int(),
  create_time: z.number().int(),
  /** Always empty, because no message refers to the file. */
  messages: z.array(z.object({ id: z.number().int(), date_sent: z.number().int() })),
});

export type DetachedUpload = z.input<typeof detachedUpload>;

export function writeDetached({ id, fileName, pathId, sizeBytes, createdAt }: Upload): DetachedUpload {
  return { id, name: fileName, path_id: pathId, size: sizeBytes, create_time: createdAt, messages: [] };
}

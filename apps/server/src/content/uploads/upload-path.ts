import { z } from 'zod';

/** Path template of a file, as it appears in URLs. */
export const uploadPath = '{realm_id}/{folder}/{random}/{file_name}';

const part = z.string();

export const uploadPathParameters = z.object({ realm_id: part, folder: part, random: part, file_name: part });

/** Joins the parts of a file's path. The path is used only for a database lookup, never to access the file system. */
export function pathIdOf(parts: z.output<typeof uploadPathParameters>): string {
  const { realm_id, folder, random, file_name } = parts;
  return [realm_id, folder, random, file_name.normalize('NFC')].join('/');
}

import { z } from 'zod';

/** The path template of a file in URLs. */
export const uploadPath = '{realm_id}/{folder}/{random}/{file_name}';

const part = z.string();

export const uploadPathParameters = z.object({ realm_id: part, folder: part, random: part, file_name: part });

/**
 * Joins the parts of a file's path. The path is only looked up in the database, never used to access the file system.
 */
export function pathIdOf(parts: z.output<typeof uploadPathParameters>): string {
  const { realm_id, folder, random, file_name } = parts;
  return [realm_id, folder, random, file_name.normalize('NFC')].join('/');
}

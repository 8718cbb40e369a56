import { z } from 'zod';

/** The parts of a file's path in URLs. */
export const uploadPath = '{realm_id}/{folder}/{random}/{file_name}';

const part = z.string();

export const uploadPathParameters = z.object({ realm_id: part, folder: part, random: part, file_name: part });

/** Joins the parts to a path. The path is only compared with known ones, never used to access files. */
export function pathIdOf(parts: z.output<typeof uploadPathParameters>): string {
  const { realm_id, folder, random, file_name } = parts;
  return [realm_id, folder, random, file_name.normalize('NFC')].join('/');
}

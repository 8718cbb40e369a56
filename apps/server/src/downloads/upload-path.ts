import { z } from 'zod';

/** The parts of a file's path, as they stand in addresses. */
export const uploadPath = '{realm_id}/{folder}/{random}/{file_name}';

const part = z.string();

export const uploadPathParameters = z.object({ realm_id: part, folder: part, random: part, file_name: part });

/** The path that the parts make; it is compared with those that are known, and never used otherwise. */
export function pathIdOf(parts: z.output<typeof uploadPathParameters>): string {
  const { realm_id, folder, random, file_name } = parts;
  return [realm_id, folder, random, file_name.normalize('NFC')].join('/');
}

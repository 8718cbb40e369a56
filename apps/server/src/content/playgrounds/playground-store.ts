import type { Kysely, Transaction } from 'kysely';
import { z } from 'zod';
import type { ServerTables } from '../../tables.js';
import type { PlannedPlayground } from './plan-playground.js';

/** A playground in responses and events. */
export const playgroundRecord = z.object({
  id: z.number().int(),
  name: z.string(),
  pygments_language: z.string(),
  url_template: z.string(),
});

/** Returns all playgrounds, oldest first. */
export function readPlaygrounds(db: Kysely<ServerTables>): Promise<z.input<typeof playgroundRecord>[]> {
  return db
    .selectFrom('playgrounds')
    .select(['id', 'name', 'language as pygments_language', 'url_template'])
    .orderBy('id')
    .execute();
}

/** Inserts a playground and returns its id, or `undefined` if the language already has a playground with this name. */
export async function insertPlayground(
  db: Transaction<ServerTables>,
  { name, language, urlTemplate }: PlannedPlayground,
): Promise<number | undefined> {
  const row = await db
    .insertInto('playgrounds')
    .values({ name, language, url_template: urlTemplate })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id;
}

/** Deletes a playground. Returns whether it existed. */
export async function removePlayground(db: Transaction<ServerTables>, id: number): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('playgrounds').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

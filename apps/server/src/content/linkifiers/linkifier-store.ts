import { rowsAsTable } from '@waxwing/storage';
import { type Kysely, sql, type Transaction } from 'kysely';
import { z } from 'zod';
import type { ServerTables } from '../../tables.js';

/** A linkifier in responses and events. */
export const linkifierRecord = z
  .object({
    id: z.number().int(),
    pattern: z.string(),
    url_template: z.string(),
    /** Null if the linkifier has no example. */
    example_input: z.string().nullable(),
    reverse_template: z.string().nullable(),
    alternative_url_templates: z.array(z.string()),
  })
  .meta({ schemaName: 'Linkifier' });

export type LinkifierRecord = z.input<typeof linkifierRecord>;

/** A linkifier to store. */
export type PlannedLinkifier = Omit<LinkifierRecord, 'id'>;

/** Returns all linkifiers, in the order in which they are applied. */
export async function readLinkifiers(db: Kysely<ServerTables>): Promise<LinkifierRecord[]> {
  const rows = await db
    .selectFrom('linkifiers')
    .select([
      'id',
      'pattern',
      'url_template',
      'example_input',
      'reverse_template',
      'alternative_url_templates',
    ])
    .orderBy('position')
    .orderBy('id')
    .execute();
  return rows.map(({ alternative_url_templates, ...row }) => ({
    ...row,
    alternative_url_templates: JSON.parse(alternative_url_templates) as string[],
  }));
}

function toRow(planned: PlannedLinkifier) {
  return { ...planned, alternative_url_templates: JSON.stringify(planned.alternative_url_templates) };
}

/** Inserts a linkifier at the last position. Returns its id. */
export async function insertLinkifier(
  db: Transaction<ServerTables>,
  planned: PlannedLinkifier,
): Promise<number> {
  const { id } = await db
    .insertInto('linkifiers')
    .values(({ selectFrom, fn, eb, val }) => ({
      ...toRow(planned),
      position: selectFrom('linkifiers').select(
        eb(fn.coalesce(fn.max('position'), val(0)), '+', 1).as('position'),
      ),
    }))
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Updates a linkifier. Returns whether it exists. */
export async function storeLinkifier(
  db: Transaction<ServerTables>,
  id: number,
  planned: PlannedLinkifier,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('linkifiers')
    .set(toRow(planned))
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Deletes a linkifier. Returns whether it existed. */
export async function removeLinkifier(db: Transaction<ServerTables>, id: number): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('linkifiers').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Puts the linkifiers into the order of these ids. */
export async function orderLinkifiers(db: Transaction<ServerTables>, ids: readonly number[]): Promise<void> {
  const rows = ids.map((id, position) => ({ id, position }));
  await sql`
    update linkifiers set position = v.position
    from ${rowsAsTable(db, 'v', { id: 'integer', position: 'integer' }, rows)}
    where linkifiers.id = v.id`.execute(db);
}

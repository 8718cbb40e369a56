import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { arrayText } from '#storage/postgres/array-text.js';
import { openBirds } from '../../contracts/birds.js';
import { eachPostgres } from '../../support/test-databases.js';

const character = fc.oneof(
  fc.constantFrom('"', '\\', ',', '{', '}', ' ', '\n', '\u0001', 'ü', '\u{1F426}'),
  fc.string({ minLength: 1, maxLength: 1, unit: 'grapheme-ascii' }),
);
const texts = fc.array(
  fc.option(fc.oneof(fc.constantFrom('', 'NULL', 'null'), fc.string({ unit: character, maxLength: 5 }))),
);

eachPostgres((postgres) => {
  it('is parsed by PostgreSQL into the original values', async () => {
    const { db } = await openBirds(postgres);
    const read = async (values: readonly (string | number | null)[], type: string) => {
      const array = sql`cast(${arrayText(values)} as ${sql.raw(type)})`;
      return (await sql<{ value: unknown }>`select unnest(${array}) as value`.execute(db)).rows.map(
        ({ value }) => value,
      );
    };
    await fc.assert(
      fc.asyncProperty(texts, async (values) => {
        expect(await read(values, 'text[]')).toEqual(values);
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(fc.maxSafeInteger())), async (values) => {
        expect(await read(values, 'bigint[]')).toEqual(values);
      }),
    );
  });

  it('is rejected for invalid numbers instead of storing nothing', async () => {
    const { db } = await openBirds(postgres);
    for (const number of [Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(sql`select cast(${arrayText([1, number])} as bigint[])`.execute(db)).rejects.toThrow(
        `invalid input syntax for type bigint: "${number}"`,
      );
    }
  });
});

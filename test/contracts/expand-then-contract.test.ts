import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jobMigrations } from '@waxwing/jobs';
import { type MigrationSet, openDatabase } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { relayMigrations } from '#relay/tables.js';
import { serverMigrations } from '#server/tables.js';
import { eachBackend } from '../support/test-databases.js';
import { recording, type SchemaChange } from './schema-changes.js';

/**
 * The last migration of each unit in every released version, oldest first. Add each new version when you release it.
 */
const releases: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
/** Migrations that drop or rename something, each with a released version that no longer uses it. */
const contractions: Readonly<Record<string, string>> = {};
const firstVersion = '0.1.0';

const units: readonly (readonly [string, readonly MigrationSet[]])[] = [
  ['relay', relayMigrations],
  ['server', serverMigrations],
  ['jobs', [jobMigrations]],
];

describe('the lists of releases and contractions', () => {
  it('include the first version after its release, and contractions only for released versions', () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
    expect(Object.hasOwn(releases, firstVersion)).toBe(version !== firstVersion);
    expect(Object.values(contractions).filter((since) => !Object.hasOwn(releases, since))).toEqual([]);
  });
});

eachBackend((backend) => {
  async function changesOf(sets: readonly MigrationSet[]): Promise<readonly SchemaChange[]> {
    const changes: SchemaChange[] = [];
    const onError = (error: unknown) => {
      throw error;
    };
    const migrations = recording(sets, changes);
    const database = await openDatabase({
      url: await backend.freshUrl(),
      migrations,
      role: 'serving',
      onError,
    });
    await database.close();
    return changes;
  }

  it.each(units)('new migrations of the %s do not break processes of the last release', async (_, sets) => {
    const last = Object.values(releases).at(-1);
    const changes = await changesOf(sets);
    expect(changes.length).toBe(sets.flatMap(({ migrations }) => Object.keys(migrations)).length);
    const unprepared = changes.filter(
      ({ unit, migration, breaks }) =>
        last !== undefined &&
        migration > (last[unit] ?? '') &&
        breaks.length > 0 &&
        !Object.hasOwn(contractions, migration),
    );
    expect(unprepared).toEqual([]);
  });

  it.each([
    ['drops a table', 'drop table birds', ['birds is gone', 'birds.id is gone', 'birds.name is gone']],
    ['drops a column', 'alter table birds drop column name', ['birds.name is gone']],
    ['renames a column', 'alter table birds rename column name to label', ['birds.name is gone']],
    ['adds a required column', 'alter table nests add column tree text not null', ['nests.tree is required']],
    ['adds an optional column', 'alter table birds add column colour text', []],
    ['adds a column with a default', "alter table birds add column colour text not null default ''", []],
    ['adds a table', 'create table eggs (id integer not null)', []],
    ['adds an index', 'create index birds_by_name on birds (name)', []],
  ])('a migration that %s is reported with what it breaks', async (_, statement, breaks) => {
    const run = (text: string) => ({
      up: async (db: Kysely<unknown>) => void (await sql.raw(text).execute(db)),
    });
    const migrations = {
      '0001-birds': run('create table birds (id integer not null, name text)'),
      // SQLite can add a required column without a default only to a table without rows.
      '0002-nests': run('create table nests (id integer not null)'),
      '0003-change': run(statement),
    };
    const changes = await changesOf([{ unit: 'zoo', migrations }]);
    expect(changes.map((change) => [change.migration, change.breaks])).toEqual([
      ['0001-birds', []],
      ['0002-nests', []],
      ['0003-change', breaks],
    ]);
  });
});

import { readFileSync } from 'node:fs';
import { type DatabaseWithJobsOptions, openDatabaseWithJobs } from '@waxwing/jobs';
import { columnTypes, type MigrationSet, migrationStatus } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';

const unitOf = (unit: string): MigrationSet => ({
  unit,
  migrations: {
    '0001-table': {
      up: (db: Kysely<unknown>) => db.schema.createTable(unit).addColumn('text', columnTypes.text).execute(),
    },
  },
});
const [birds, fish] = [unitOf('birds'), unitOf('fish')];
const remedyIfMissing = 'name it in FISH_DATABASE';

describe('a database of another program that also has jobs', () => {
  eachBackend((backend) => {
    const open = (url: string, options: Partial<DatabaseWithJobsOptions>) =>
      openDatabaseWithJobs<unknown>({
        url,
        migrations: [fish],
        role: 'visiting',
        now: Date.now,
        onJobError: () => undefined,
        ...options,
      });

    async function ofBirds(): Promise<string> {
      const url = await backend.freshUrl();
      await (await open(url, { migrations: [birds] })).close();
      return url;
    }

    it('is rejected by a command, and stays unchanged', async () => {
      const url = await ofBirds();
      const path = url.slice('sqlite:'.length);
      const before = backend.name === 'sqlite' ? readFileSync(path) : undefined;
      const problem =
        backend.name === 'sqlite'
          ? "is another program's database (it has a table birds)"
          : 'has no tables of this program';
      await expect(open(url, { remedyIfMissing })).rejects.toThrow(problem);
      const allowed = open(url, { remedyIfMissing, mayHoldOthers: true });
      await expect(allowed).rejects.toThrow(`has no tables of this program: ${remedyIfMissing}.`);
      if (before !== undefined) expect(readFileSync(path).equals(before)).toBe(true);
      const database = await open(url, { migrations: [birds], remedyIfMissing });
      await sql`select * from birds`.execute(database.db);
      await expect(sql`select * from fish`.execute(database.db)).rejects.toThrow('fish');
      await database.close();
    });

    it('may also contain the tables of a program that allows it', async () => {
      const url = await ofBirds();
      await (await open(url, { mayHoldOthers: true })).close();
      await (await open(url, { remedyIfMissing })).close();
      const units = await migrationStatus({ url, migrations: [birds, fish] });
      expect(units.flatMap(({ pending }) => pending)).toEqual([]);
    });
  });
});

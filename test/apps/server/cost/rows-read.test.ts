import { describe, expect, it } from 'vitest';
import { type ObservedQuery, observeQueries } from '../../../support/observe-queries.js';
import { eachBackend, type TestBackend } from '../../../support/test-databases.js';
import { OrganisationUnderTest } from '../organisation-under-test.js';
import { enlarge } from './large-organisation.js';
import { measuredOperations } from './measured-operations.js';
import { operationsBesideMany } from './operations-beside-many.js';
import { rowsReadBy } from './rows-read-by.js';
import { scansOf } from './scans-of.js';

const few = 100;
const many = 10_000;
/** How much more an operation may cost in the larger organization. */
const growth = 1.5;

interface Cost {
  readonly statements: number;
  readonly rows: number;
}

eachBackend((backend) => {
  describe('operations', () => {
    it('read no more in an organization of 10,000 users than in one of 100, and do not scan a table', async () => {
      const small = await costsWith(backend, few);
      const large = await costsWith(backend, many);
      expect(large.scans).toEqual([]);
      const grown = [...large.costs].filter(([name, { statements, rows }]) => {
        const before = small.costs.get(name) ?? { statements: 0, rows: 0 };
        return statements > before.statements * growth || rows > before.rows * growth;
      });
      expect(grown).toEqual([]);
      expect(large.costs.size).toBeGreaterThan(15);
    }, 300_000);
  });
});

/** The statements and rows of each operation in an organization of this size, and the scans of growing tables. */
async function costsWith(backend: TestBackend, users: number) {
  const organisation = new OrganisationUnderTest();
  await organisation.start(await backend.freshUrl());
  try {
    // The queues of this test do not request the events of the operations.
    const large = await enlarge(organisation, users, users / 2);
    const operations = {
      ...(await measuredOperations(organisation, large)),
      ...(await operationsBesideMany(organisation, large)),
    };
    const { db } = organisation.server.server.database;
    const costs = new Map<string, Cost>();
    const scans: string[] = [];
    for (const [name, act] of Object.entries(operations)) {
      const seen: ObservedQuery[] = [];
      const stop = observeQueries(db, (query) => void seen.push(query));
      await act().finally(stop);
      const own = seen.filter(({ sql }) => !/\bjobs\b/.test(sql));
      let rows = 0;
      for (const query of own) {
        rows += await rowsReadBy(db, query);
        const found = await scansOf(db, query);
        scans.push(...found.map((scan) => `${name}: ${scan} in ${query.sql}`));
      }
      costs.set(name, { statements: own.length, rows });
    }
    return { costs, scans };
  } finally {
    await organisation.server.close();
  }
}

import { describe, expect, it } from 'vitest';
import { sendPlans } from '../../../support/observe-plans.js';
import { eachBackend, type TestBackend } from '../../../support/test-databases.js';
import { OrganisationUnderTest } from '../organisation-under-test.js';
import { growingStatements } from './growing-statements.js';
import { enlarge, type Size } from './large-organisation.js';
import { listingOperations } from './listing-operations.js';
import { measuredOperations } from './measured-operations.js';
import { operationsBesideMany } from './operations-beside-many.js';
import { type StatementCost, statementsOf } from './statements-of.js';

const small: Size = { users: 100, groups: 100, channels: 10, messages: 100, copies: 50, queues: 50 };
const large: Size = {
  users: 10_000,
  groups: 10_000,
  channels: 10_000,
  messages: 10_000,
  copies: 10_000,
  queues: 10_000,
};
/** PostgreSQL counts the rows that a statement visits. SQLite does not, so more rows would only take longer. */
const largest: Record<TestBackend['name'], Size> = {
  sqlite: large,
  postgres: { ...large, users: 100_000, messages: 100_000 },
};
/** Maximum cost of an operation in the larger organization, relative to the smaller one. */
const growth = 1.5;

eachBackend((backend) => {
  describe('operations', () => {
    it('read no more rows in a large organization than in a small one, and scan no growing table', async () => {
      const before = await costsWith(backend, small);
      const after = await costsWith(backend, largest[backend.name]);
      const scans = [...after].flatMap(([name, statements]) =>
        statements.flatMap((each) => each.scans.map((scan) => `${name}: ${scan} in ${each.sql}`)),
      );
      expect(scans).toEqual([]);
      const grown = [...after].filter(([name, statements]) => {
        const earlier = before.get(name) ?? [];
        const isLonger = statements.length > earlier.length * growth;
        return isLonger || rowsOf(statements) > rowsOf(earlier) * growth;
      });
      expect(grown.map(([name, statements]) => [name, mostRows(statements)])).toEqual([]);
      expect(after.size).toBeGreaterThan(15);
    }, 300_000);
  });
});

function rowsOf(statements: readonly StatementCost[]): number {
  return statements.reduce((sum, { rows }) => sum + rows, 0);
}

/** The statement that reads the most rows. */
function mostRows(statements: readonly StatementCost[]): StatementCost | undefined {
  return [...statements].sort((a, b) => b.rows - a.rows)[0];
}

/** The cost of each operation's statements in an organization of this size. */
async function costsWith(backend: TestBackend, size: Size): Promise<Map<string, StatementCost[]>> {
  const url = await backend.freshUrl();
  if (backend.name === 'postgres') await sendPlans(url, { usesIndexes: size === small });
  const organisation = new OrganisationUnderTest();
  await organisation.start(url);
  try {
    const beside = await enlarge(organisation, size);
    const operations = {
      ...(await listingOperations(organisation, beside)),
      ...(await measuredOperations(organisation, beside)),
      ...(await operationsBesideMany(organisation, beside)),
    };
    const { db } = organisation.server.server.database;
    const costs = new Map<string, StatementCost[]>();
    for (const [name, act] of Object.entries(operations)) {
      const statements = await statementsOf(backend, db, act);
      const isCompared = ({ sql }: StatementCost) => !growingStatements.some(({ text }) => text.test(sql));
      costs.set(name, statements.filter(isCompared));
    }
    return costs;
  } finally {
    await organisation.server.close();
  }
}

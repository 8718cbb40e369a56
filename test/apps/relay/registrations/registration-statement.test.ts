import type { PushAccountIdText } from '@waxwing/protocol';
import { Secret } from '@waxwing/service/config';
import { DatabaseUnavailableError } from '@waxwing/storage';
import { describe, expect, it, vi } from 'vitest';
import { KeyUseCounter } from '#relay/keyring/uses/key-use-counter.js';
import { openRelayDatabase } from '#relay/open-database.js';
import type { RegistrationOutcome } from '#relay/registrations/opening/registration-batches.js';
import type {
  RegistrationToWrite,
  RegistrationWriter,
} from '#relay/registrations/write/registration-writer.js';
import { StatementWriter } from '#relay/registrations/write/statement-writer.js';
import { TransactionWriter } from '#relay/registrations/write/transaction-writer.js';
import { addServer } from '#relay/servers/manage-servers.js';
import type { RelayDatabase } from '#relay/tables.js';
import fc from '../../../support/fast-check.js';
import { accountIdText, realmId } from '../../../support/ids.js';
import { observeQueries } from '../../../support/observe-queries.js';
import { eachPostgres, type TestBackend } from '../../../support/test-databases.js';
import { otherRealmUuid, realmUuid } from '../relay-under-test.js';

interface Fields {
  readonly realm?: number;
  readonly account?: number;
  readonly lookup?: string;
  readonly key?: string;
  readonly hash?: string | undefined;
  readonly sequence?: number | undefined;
}

const day = 86_400_000;
const now = 20_000 * day;
/** A sequence that is ignored because it is too far in the future. */
const farAhead = now + 365 * day;

function registrationOf(fields: Fields): RegistrationToWrite {
  const { realm = 1, account = 7, lookup = 'a', key = 'key', hash, sequence } = fields;
  const row = {
    realm_id: realmId(realm),
    push_account_id: accountIdText(account),
    token_kind: 'fcm',
    token_lookup: lookup,
    token: `sealed "${lookup}" \\ ${sequence}`,
    ios_app_id: null,
    apns_environment: null,
    registered_at: now,
    expired_at: null,
  };
  const mark = hash === undefined ? undefined : { hash, forgetAt: now + day };
  return { row, olderLookups: [], bouncerPublicKey: key, mark, sequence };
}

async function openDatabase(backend: TestBackend): Promise<RelayDatabase> {
  const database = await openRelayDatabase({
    url: new Secret(await backend.freshUrl()),
    clock: Date.now,
    role: 'serving',
    onJobError: expect.fail,
  });
  await addServer(database, { name: '', realmUuids: [realmUuid, otherRealmUuid] }, 0);
  return database;
}

function writersOf(database: RelayDatabase): { inSteps: RegistrationWriter; writer: StatementWriter } {
  const foundation = { database, keyUses: new KeyUseCounter(() => 0) };
  const inSteps = new TransactionWriter(foundation);
  return { inSteps, writer: new StatementWriter({ ...foundation, inSteps }) };
}

/** Reads all stored rows about registrations, without device ids. */
async function stored({ db }: RelayDatabase): Promise<unknown> {
  const devices = await db
    .selectFrom('relay_devices')
    .selectAll()
    .orderBy('realm_id')
    .orderBy('push_account_id')
    .orderBy('token_lookup')
    .execute();
  return {
    devices: devices.map(({ id: _, ...row }) => row),
    presented: await db.selectFrom('presented_registrations').selectAll().orderBy('hash').execute(),
    sequences: await db
      .selectFrom('registration_sequences')
      .selectAll()
      // Excludes sequences that a writer need not store: those without effect, and those too far in the future.
      .where('sequence', 'in', [1, 2, 3])
      .orderBy('realm_id')
      .orderBy('push_account_id')
      .execute(),
    uses: await db.selectFrom('bouncer_key_uses').selectAll().orderBy('public_key').orderBy('day').execute(),
  };
}

/** Names devices by their identifying columns, because two databases assign different ids. */
async function named(database: RelayDatabase, outcomes: readonly RegistrationOutcome[]): Promise<string[]> {
  const rows = await database.db.selectFrom('relay_devices').selectAll().execute();
  const nameOf = (id: number): string => {
    const row = rows.find((each) => each.id === id);
    return `${row?.realm_id} ${row?.push_account_id} ${row?.token_lookup}`;
  };
  return outcomes.map((outcome) => (typeof outcome === 'number' ? nameOf(outcome) : outcome));
}

const registration = fc
  .record({
    realm: fc.constantFrom(1, 2),
    account: fc.integer({ min: 1, max: 30 }),
    lookup: fc.constantFrom('a', 'b'),
    key: fc.constantFrom('key', 'another key'),
    hash: fc.option(
      fc.integer({ min: 1, max: 60 }).map((count) => `hash ${count}`),
      { nil: undefined },
    ),
    sequence: fc.constantFrom(undefined, 0, 1, 2, 3, farAhead),
  })
  .map(registrationOf);
/** A batch that one statement can write in most cases. */
const batch = fc.uniqueArray(registration, {
  selector: ({ row }) => row.push_account_id,
  minLength: 1,
  maxLength: 8,
});
const batches = fc.array(
  fc.oneof({ weight: 4, arbitrary: batch }, fc.array(registration, { minLength: 1 })),
  {
    minLength: 1,
    maxLength: 6,
  },
);

eachPostgres((postgres) => {
  describe('registrations that one statement writes', () => {
    it('have the same result as a transaction with several statements', async () => {
      const [together, apart] = [await openDatabase(postgres), await openDatabase(postgres)];
      const { writer } = writersOf(together);
      const { inSteps } = writersOf(apart);
      let instant = now;
      let statements = 0;
      const stop = observeQueries(together.db, ({ sql }) => {
        if (sql.includes('with given')) statements += 1;
      });
      await fc.assert(
        fc.asyncProperty(batches, async (presented) => {
          for (const each of presented) {
            instant += day / 50;
            const outcomes = await writer.write(each, instant);
            expect(await named(together, outcomes)).toEqual(
              await named(apart, await inSteps.write(each, instant)),
            );
          }
        }),
        { numRuns: 40 },
      );
      stop();
      expect(await stored(together)).toEqual(await stored(apart));
      expect(statements).toBeGreaterThan(40);
      await Promise.all([together.close(), apart.close()]);
    });

    it('cost one query; all that arrive during that query cost one more', async () => {
      const database = await openDatabase(postgres);
      const { writer } = writersOf(database);
      const queries: string[] = [];
      const stop = observeQueries(database.db, ({ sql }) => queries.push(sql));
      const answers = Array.from({ length: 40 }, (_, account) =>
        writer.write([registrationOf({ account, hash: `hash ${account}`, sequence: 1 })], now),
      );
      expect(writer.isIdle).toBe(false);
      const outcomes = (await Promise.all(answers)).flat();
      expect(writer.isIdle).toBe(true);
      stop();
      expect(queries).toHaveLength(2);
      expect(await named(database, outcomes)).toEqual(
        Array.from({ length: 40 }, (_, account) => `1 ${account} a`),
      );
      await database.close();
    });

    it('are serialized for the same account or sealed bytes', async () => {
      const database = await openDatabase(postgres);
      const { writer } = writersOf(database);
      const write = (fields: Fields) => writer.write([registrationOf(fields)], now);
      const outcomes = await Promise.all([
        write({ account: 1, sequence: 1 }),
        write({ account: 2, hash: 'x' }),
        write({ realm: 2, account: 3, hash: 'x' }),
        write({ account: 4, sequence: 2 }),
        write({ account: 4, sequence: 1 }),
        write({ account: 4, sequence: 3 }),
      ]);
      const refused = ['1 1 a', '1 2 a', 'presented-before', '1 4 a', 'superseded', '1 4 a'];
      expect(await named(database, outcomes.flat())).toEqual(refused);
      const inOne = [
        registrationOf({ account: 5, sequence: 2 }),
        registrationOf({ account: 5, sequence: 1 }),
      ];
      expect(await named(database, await writer.write(inOne, now))).toEqual(['1 5 a', 'superseded']);
      await database.close();
    });

    it('leave nothing behind and do not affect other registrations if the database rejects them', async () => {
      const database = await openDatabase(postgres);
      const { writer } = writersOf(database);
      const write = (...fields: Fields[]) => writer.write(fields.map(registrationOf), now);
      const asked = [
        write({ account: 1, hash: 'hash 1' }),
        write({ account: 2, hash: 'hash 2' }),
        write(
          { account: 3, hash: 'hash 3', sequence: 5 },
          { realm: 99, account: 4, hash: 'hash 4', sequence: 5 },
        ),
        write({ account: 5, hash: 'hash 5' }),
      ];
      const settled = await Promise.allSettled(asked);
      expect(settled.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      const { db } = database;
      const accounts = await db.selectFrom('relay_devices').select('push_account_id').orderBy('id').execute();
      expect(accounts.map(({ push_account_id: id }) => id)).toEqual([
        '1',
        '2',
        '5',
      ] satisfies string[] as PushAccountIdText[]);
      const hashes = await db.selectFrom('presented_registrations').select('hash').orderBy('hash').execute();
      expect(hashes.map(({ hash }) => hash)).toEqual(['hash 1', 'hash 2', 'hash 5']);
      const uses = await db.selectFrom('bouncer_key_uses').select('registrations').execute();
      expect(uses).toEqual([{ registrations: 3 }]);
      await database.close();
    });

    it('are batched with at most 256 per statement', async () => {
      const database = await openDatabase(postgres);
      const { writer } = writersOf(database);
      const sizes: number[] = [];
      const stop = observeQueries(database.db, ({ rows }) => sizes.push(rows.length));
      const answers = Array.from({ length: 300 }, (_, account) =>
        writer.write([registrationOf({ account })], now),
      );
      await Promise.all(answers);
      stop();
      expect(sizes).toEqual([1, 256, 43]);
      await database.close();
    });

    it('are not retried one by one while the database is down', async () => {
      const database = await openDatabase(postgres);
      const { writer } = writersOf(database);
      const statement = vi
        .spyOn(database, 'writeStatement')
        .mockRejectedValue(new DatabaseUnavailableError('there is no connection'));
      const answers = [1, 2, 3, 4].map((account) => writer.write([registrationOf({ account })], now));
      for (const { status } of await Promise.allSettled(answers)) expect(status).toBe('rejected');
      expect(statement).toHaveBeenCalledTimes(2);
      statement.mockRestore();
      expect(await writer.write([registrationOf({})], now)).toEqual([expect.any(Number)]);
      await database.close();
    });

    it('use a transaction instead if an older row may have another lookup', async () => {
      const database = await openDatabase(postgres);
      const { writer } = writersOf(database);
      const [id] = await writer.write([registrationOf({ lookup: 'older' })], now);
      const moved = { ...registrationOf({ lookup: 'newer' }), olderLookups: ['older'] };
      expect(await writer.write([moved], now)).toEqual([id]);
      await database.close();
    });
  });
});

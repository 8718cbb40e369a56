import type { MigrationSet, RowFilter } from '@waxwing/storage';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { BreakerStore } from '#relay/deliveries/breakers/breaker-store.js';
import { deliveryMigrations } from '#relay/deliveries/delivery-tables.js';
import { type RelayTables, relayMigrations } from '#relay/tables.js';
import { eachBackend } from '../../../support/test-databases.js';

eachBackend((backend) => {
  it('opens, confirms and closes breakers independently for each app and kind', async () => {
    const store = new BreakerStore(await backend.open<RelayTables>({ migrations: relayMigrations }));
    await store.open({ app: 'b', kind: 'deletion', reason: 'too many', at: 1 });
    await store.open({ app: 'a', kind: 'credential', reason: 'refused', at: 2 });
    await store.open({ app: 'a', kind: 'deletion', reason: 'too many', at: 3 });
    const kinds = async () =>
      (await store.list()).map(({ app, kind, confirmedAt }) => [app, kind, confirmedAt]);
    expect([await store.confirm('a', 4), await store.confirm('a', 5), await store.confirm('c', 5)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(await kinds()).toEqual([
      ['a', 'credential', undefined],
      ['a', 'deletion', 4],
      ['b', 'deletion', undefined],
    ]);
    await store.open({ app: 'a', kind: 'deletion', reason: 'again', at: 6 });
    expect(await store.list()).toContainEqual({
      app: 'a',
      kind: 'deletion',
      scope: '',
      reason: 'again',
      openedAt: 6,
      confirmedAt: undefined,
    });
    await store.forgetVendors();
    await store.close('b', 'deletion');
    expect(await kinds()).toEqual([['a', 'deletion', undefined]]);
  });

  it('freezes and thaws deletions per realm and server, but confirms them for the whole app', async () => {
    const store = new BreakerStore(await backend.open<RelayTables>({ migrations: relayMigrations }));
    for (const scope of ['realm x', 'server y', 'realm z']) {
      await store.open({ app: 'a', kind: 'deletion', scope, reason: 'too many', at: 1 });
    }
    await store.close('a', 'deletion', 'realm x');
    const scopes = async () => (await store.list()).map(({ scope, confirmedAt }) => [scope, confirmedAt]);
    expect(await scopes()).toEqual([
      ['realm z', undefined],
      ['server y', undefined],
    ]);
    expect(await store.confirm('a', 2)).toBe(true);
    expect(await scopes()).toEqual([
      ['realm z', 2],
      ['server y', 2],
    ]);
  });

  it('extends a freeze without undoing a confirmation', async () => {
    const store = new BreakerStore(await backend.open<RelayTables>({ migrations: relayMigrations }));
    const at = { app: 'a', scope: 'realm x' };
    expect(await store.heldAt(at)).toBeUndefined();
    await store.open({ ...at, kind: 'deletion', reason: 'too many', at: 1 });
    await store.hold(at, 2);
    expect(await store.heldAt(at)).toBe(2);
    await store.confirm('a', 3);
    await store.hold(at, 4);
    expect(await store.list()).toMatchObject([{ openedAt: 2, confirmedAt: 3 }]);
  });

  it('extends, queries and closes a breaker without affecting other apps, kinds and scopes', async () => {
    const store = new BreakerStore(await backend.open<RelayTables>({ migrations: relayMigrations }));
    const at = { app: 'b', scope: 'realm x' };
    const others = [
      { app: 'a', kind: 'deletion', scope: 'realm x' },
      { app: 'b', kind: 'credential', scope: 'realm x' },
      { app: 'b', kind: 'deletion', scope: 'realm y' },
    ] as const;
    for (const other of others) await store.open({ ...other, reason: 'another', at: 1 });
    const untouched = others.map((other) => ({ ...other, openedAt: 1 }));
    expect(await store.heldAt(at)).toBeUndefined();
    await store.hold(at, 2);
    expect(await store.list()).toMatchObject(untouched);
    await store.open({ ...at, kind: 'deletion', reason: 'too many', at: 3 });
    await store.hold(at, 4);
    expect(await store.heldAt(at)).toBe(4);
    await store.close('b', 'deletion', 'realm x');
    expect(await store.list()).toMatchObject(untouched);
  });

  it('lists each breaker once in pages, in the order of the full list', async () => {
    const database = await backend.open<RelayTables>({ migrations: relayMigrations });
    await database.write(({ db }) =>
      sql`insert into app_breakers (app, kind, scope, reason, opened_at)
        with recursive numbers (number) as (select 1 union all select number + 1 from numbers where number < 2500)
        select case when number % 2 = 0 then 'a' else 'b' end, 'deletion', 'realm ' || number, 'too many', 1
        from numbers`.execute(db),
    );
    const store = new BreakerStore(database);
    const read = async (filter: RowFilter) => {
      const breakers = [];
      for await (const page of store.pages(filter)) breakers.push(...page);
      return breakers;
    };
    const all = await store.list();
    expect(await read({})).toEqual(all);
    expect(await read({ limit: 1001 })).toEqual(all.slice(0, 1001));
    expect(await read({ text: 'REALM 24' })).toHaveLength(111);
  });

  it('migrates breakers without a scope to the scope of the whole app', async () => {
    const url = await backend.freshUrl();
    const { '0003-breaker-scopes': _newer, ...migrations } = deliveryMigrations.migrations;
    const older: MigrationSet = { ...deliveryMigrations, migrations };
    const sets = relayMigrations.map((set) => (set === deliveryMigrations ? older : set));
    const before = await backend.open<RelayTables>({ url, migrations: sets });
    await before.write(({ db }) =>
      sql`insert into app_breakers (app, kind, reason, opened_at, confirmed_at)
        values ('a', 'deletion', 'too many', 1, null), ('b', 'deletion', 'too many', 2, 3)`.execute(db),
    );
    await before.close();
    const store = new BreakerStore(await backend.open<RelayTables>({ url, migrations: relayMigrations }));
    expect(await store.list()).toEqual([
      { app: 'a', kind: 'deletion', scope: '', reason: 'too many', openedAt: 1, confirmedAt: undefined },
      { app: 'b', kind: 'deletion', scope: '', reason: 'too many', openedAt: 2, confirmedAt: 3 },
    ]);
  });
});

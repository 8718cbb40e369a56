import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StatementCache } from '#storage/sqlite/statement-cache.js';

let database: InstanceType<typeof DatabaseSync>;
let statements: StatementCache;
beforeEach(() => {
  database = new DatabaseSync(':memory:');
  database.exec("create table phones (id integer, name text); insert into phones values (1, 'ada')");
  statements = new StatementCache(database);
});
afterEach(() => statements.close());

describe('a prepared statement', () => {
  it('returns one object per row, with the query’s column names', () => {
    database.exec('insert into phones values (2, null)');
    expect(
      statements.run('select name as called, id from phones where id < ? order by id', [3]).rows,
    ).toEqual([
      { called: 'ada', id: 1 },
      { called: null, id: 2 },
    ]);
    expect(statements.run('select id from phones where id > ?', [3]).rows).toEqual([]);
  });

  it('returns the current columns, even if the table had fewer when it was prepared', () => {
    const all = 'select * from phones';
    expect(statements.run(all, []).rows).toEqual([{ id: 1, name: 'ada' }]);
    database.exec("alter table phones add column kind text default 'fcm'");
    expect(statements.run(all, []).rows).toEqual([{ id: 1, name: 'ada', kind: 'fcm' }]);
    database.exec('alter table phones drop column name');
    expect(statements.run(all, []).rows).toEqual([{ id: 1, kind: 'fcm' }]);
  });

  it('returns the number of changes of a writing statement', () => {
    const sql = 'update phones set name = ? where id = ?';
    expect(statements.run(sql, ['bob', 1])).toMatchObject({ rows: [], numAffectedRows: 1n });
    expect(statements.run('update phones set name = ? returning id', ['eve']).rows).toEqual([{ id: 1 }]);
  });
});

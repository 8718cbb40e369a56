import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { DatabaseUnavailableError } from '../database-unavailable-error.js';
import { isDeadlock, isKeptStatementLost, translatePostgresError } from './postgres-errors.js';
import { preparedName } from './prepared-statements.js';
import type { PrimaryFinder } from './primary-finder.js';

export interface PostgresPoolOptions {
  readonly primary: PrimaryFinder;
  /** Maximum connections of this process, at least 2. One additional connection listens for notifications. */
  readonly connections: number;
  /** Whether to wait for query results without a timeout. */
  readonly isPatient?: boolean;
}

const statementTimeoutMilliseconds = 30_000;
// Client-side timeout, for networks that drop all packets, where the server's own timeout error never arrives.
const answerTimeoutMilliseconds = statementTimeoutMilliseconds + 5_000;
const maximumAttempts = 8;
const idleTransactionTimeoutMilliseconds = 60_000;
/** Disables the statement timeout for the rest of the transaction. */
export const waitPatiently = 'set local statement_timeout = 0';
/** The longest possible timer: 24 days. A timeout of 0 would select the connection's default timeout. */
const patientAnswerTimeoutMilliseconds = 2_147_483_647;

/**
 * Turns just-in-time compilation off. PostgreSQL compiles a query if its estimated cost is high, and the estimates of
 * permission checks are far too high: compiling took seconds, and running the query milliseconds.
 */
const disableJit = 'set jit = off';
const setTimeouts = `set statement_timeout = ${statementTimeoutMilliseconds};
  set idle_in_transaction_session_timeout = ${idleTransactionTimeoutMilliseconds}`;

export function createPool({ primary, connections, isPatient = false }: PostgresPoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...primary.settings,
    Client: primary.Client,
    max: connections,
    idleTimeoutMillis: 30_000,
    ...(isPatient ? {} : { query_timeout: answerTimeoutMilliseconds }),
    // A query, because pgbouncer refuses these settings as startup parameters. The pool waits for the query.
    onConnect: (client) => client.query(isPatient ? disableJit : `${disableJit}; ${setTimeouts}`),
  });
  // The next query on a broken connection reports its error. Without these listeners the `error` event would end the
  // process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * Adapts the pool for Kysely: converts errors to those of this package, and discards broken connections instead of
 * reusing them.
 */
export function translatingPool(pool: pg.Pool): PostgresPool {
  return { connect: async () => translatingClient(await connect(pool)), end: () => pool.end() };
}

function translatingClient(client: pg.PoolClient): PostgresPoolClient {
  let broken = false;
  let isPatient = false;
  let isInTransaction = false;
  async function run<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    // Read first, because `commit` ends the transaction. A retried `commit` would succeed although everything is lost.
    const isSingle = !isInTransaction;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await runOnce(sql, parameters);
      } catch (error) {
        // A single statement, such as a join, can deadlock with a migration. It has changed nothing, so a retry is
        // safe.
        if (!isSingle || !isDeadlock(error) || attempt === maximumAttempts) throw error;
      }
    }
  }
  async function runOnce<Row>(
    sql: string,
    parameters: readonly unknown[],
  ): Promise<PostgresQueryResult<Row>> {
    // When the server loses a connection, the server rolls back by itself.
    if (broken && sql === 'rollback') return resultOf({ command: 'ROLLBACK', rowCount: 0, rows: [] });
    if (sql === waitPatiently) isPatient = true;
    else if (sql === 'begin' || sql.startsWith('start transaction')) isInTransaction = true;
    else if (sql === 'commit' || sql === 'rollback') isPatient = isInTransaction = false;
    try {
      const values = [...parameters];
      const name = preparedName(sql);
      const query = name === undefined ? { text: sql, values } : { name, text: sql, values };
      return resultOf(await client.query(isPatient ? patientQuery(query) : query));
    } catch (error) {
      const translated = translatePostgresError(error);
      broken ||= isKeptStatementLost(error);
      broken ||= translated instanceof DatabaseUnavailableError && !isStatementTimeout(error);
      throw translated;
    }
  }
  function query<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  function query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  function query<Row>(
    sql: string | PostgresCursor<Row>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<Row>> | PostgresCursor<Row> {
    if (typeof sql === 'string') return run(sql, parameters);
    throw new TypeError('Cursors are not supported.');
  }
  return { query, release: () => client.release(broken) };
}

function resultOf<Row>({
  command,
  rowCount,
  rows,
}: Pick<pg.QueryResult, 'command' | 'rowCount' | 'rows'>): PostgresQueryResult<Row> {
  // The cast is needed because Kysely's type lists only commands whose row count it reads, while PostgreSQL also
  // returns others.
  return { command: command as PostgresQueryResult<Row>['command'], rowCount: rowCount ?? 0, rows };
}

/** Adds a timeout for one query, which pg's types do not declare. */
function patientQuery(query: pg.QueryConfig): pg.QueryConfig & { readonly query_timeout: number } {
  return { ...query, query_timeout: patientAnswerTimeoutMilliseconds };
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw translatePostgresError(error);
  }
}

function isStatementTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === '57014';
}

import type pg from 'pg';

/** Number of rounds. More than one, because other clients of the pooler may disturb a round. */
const rounds = 10;

/**
 * Whether a pooler such as pgbouncer moves a connection to another server process for each transaction or statement.
 * Such a pooler breaks LISTEN, session settings and prepared statements. Compares the id of the server process that
 * replies with the id from the handshake. If they are equal, there is no pooler, and the check ends.
 *
 * A pooler in session mode never changes a connection's process, and never gives it to a second connection. In other
 * modes, a pooler hands out the process that was used last, or the process that was idle longest
 * (`server_round_robin`). Then a second connection gets the first connection's process, or the first connection gets a
 * different process.
 */
export async function poolsTransactions(pool: pg.Pool): Promise<boolean> {
  const first = await pool.connect();
  try {
    const before = await processOf(first);
    if (before === (first as { processID?: number }).processID) return false;
    const second = await pool.connect();
    try {
      for (let round = 0; round < rounds; round++) {
        // Queries the first connection twice in a row. With strict alternation, a round-robin pooler could give each
        // connection the same process every time.
        if ((await processOf(second)) === before || (await processOf(first)) !== before) return true;
        if ((await processOf(first)) !== before) return true;
      }
      return false;
    } finally {
      second.release();
    }
  } finally {
    first.release();
  }
}

async function processOf(client: pg.PoolClient): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

import type pg from 'pg';

/** Other clients of the pooler may disturb a round. */
const rounds = 10;

/**
 * Whether a pooler, such as pgbouncer, gives each transaction or statement of a connection another server connection.
 * LISTEN, settings of a session and prepared statements get lost then. Asks the server which of its processes answers. A
 * pooler answers with another process id than that of the handshake; without one, nothing else is asked.
 *
 * A pooler that keeps sessions apart never changes a connection's process, nor gives it to a second one. Any other gives
 * away the process that was used last, or that was idle for longest (`server_round_robin`): a second connection gets the
 * process of the first, or the first does not get its own again.
 */
export async function poolsTransactions(pool: pg.Pool): Promise<boolean> {
  const first = await pool.connect();
  try {
    const before = await processOf(first);
    if (before === (first as { processID?: number }).processID) return false;
    const second = await pool.connect();
    try {
      for (let round = 0; round < rounds; round++) {
        // Query the first connection twice in a row. Under strict alternation, a round-robin pooler could give each
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

import type pg from 'pg';

/**
 * Whether a pooler, such as pgbouncer, gives each transaction or statement of a connection another server connection.
 * LISTEN, settings of a session and prepared statements get lost then. Asks the server which of its processes answers:
 * a pooler answers with another process id than that of the handshake, and one that does not keep a session apart gives
 * a second connection the process of the first.
 */
export async function poolsTransactions(pool: pg.Pool): Promise<boolean> {
  const first = await pool.connect();
  try {
    const before = await processOf(first);
    if (before === (first as { processID?: number }).processID) return false;
    const second = await pool.connect();
    try {
      await second.query('begin');
      if ((await processOf(second)) === before) return true;
      // Beside other clients of the pooler, the first may get its process back now and then.
      for (let asked = 0; asked < 10; asked++) if ((await processOf(first)) !== before) return true;
      return false;
    } catch (error) {
      if (/statement pooling mode/.test((error as Error).message)) return true;
      throw error;
    } finally {
      // Ends the transaction, too.
      second.release(true);
    }
  } finally {
    first.release();
  }
}

async function processOf(client: pg.PoolClient): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

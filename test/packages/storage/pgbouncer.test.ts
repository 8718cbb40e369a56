import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { expect, it } from 'vitest';
import { poolsTransactions } from '#storage/postgres/pooling-mode.js';
import { freePort } from '../../support/free-ports.js';
import { eachPostgres } from '../../support/test-databases.js';

const program = '/usr/sbin/pgbouncer';

/** Runs `act` with the URL of a pgbouncer in front of the database at `url`, with pgbouncer's default settings. */
async function behindPgbouncer(
  poolMode: string,
  url: string,
  act: (url: string) => Promise<void>,
  settings: readonly string[] = [],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-pgbouncer-'));
  const { hostname, port, username } = new URL(url);
  const listenPort = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${port || 5432} user=${username}`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1`,
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${poolMode}`,
    ...settings,
  ];
  writeFileSync(file, lines.join('\n'));
  for (const path of [folder, file]) chmodSync(path, 0o755);
  // pgbouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(program, ['-q', ...user, file], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  try {
    await expect.poll(() => listens(listenPort)).toBe(true);
    await act(Object.assign(new URL(url), { hostname: '127.0.0.1', port: listenPort }).href);
  } finally {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

eachPostgres((backend) => {
  // .ci/run installs pgbouncer.
  const itBehind = it.runIf(existsSync(program));

  itBehind('pgbouncer in session mode works: the settings apply, and signals arrive', async () => {
    await behindPgbouncer('session', await backend.freshUrl(), async (url) => {
      const one = await backend.open({ url, migrations: [] });
      const other = await backend.open({ url, migrations: [] });
      const { rows } = await sql`
        select current_setting('statement_timeout') as statement,
          current_setting('idle_in_transaction_session_timeout') as idle,
          current_setting('jit') as jit`.execute(one.db);
      expect(rows).toEqual([{ statement: '30s', idle: '1min', jit: 'off' }]);
      const heard: unknown[] = [];
      await other.signals.listen('birds', (payload) => void heard.push(payload));
      await one.write((transaction) => one.signals.notify(transaction, 'birds', 'wren'));
      await expect.poll(() => heard).toEqual(['wren']);
      await Promise.all([one.close(), other.close()]);
    });
  });

  const refusal =
    /^The PostgreSQL database ".*" at 127\.0\.0\.1, port \d+, is behind a pooler .* set pool_mode = session /;

  itBehind.each(['transaction', 'statement'])(
    'pgbouncer in %s mode is rejected with an error that says what to set',
    async (poolMode) => {
      await behindPgbouncer(poolMode, await backend.freshUrl(), async (url) => {
        await expect(backend.open({ url, migrations: [] })).rejects.toThrow(refusal);
      });
    },
  );

  itBehind.each([
    ['server_round_robin = 0', 1],
    ['server_round_robin = 0', 2],
    ['server_round_robin = 0', 3],
    ['server_round_robin = 1', 1],
    ['server_round_robin = 1', 2],
    ['server_round_robin = 1', 3],
  ])('pgbouncer in transaction mode is detected with %s and %i free connections', async (setting, free) => {
    const direct = await backend.freshUrl();
    await behindPgbouncer('transaction', direct, (url) => recognize(url, free), [setting]);
  });

  async function recognize(url: string, free: number): Promise<void> {
    const warm = new pg.Pool({ connectionString: url, max: free });
    // Concurrent transactions make pgbouncer open and keep this many connections.
    const clients = await Promise.all(Array.from({ length: free }, () => warm.connect()));
    for (const client of clients) await client.query('begin');
    for (const client of clients) await client.query('commit');
    for (const client of clients) client.release();
    await warm.end();
    // Each earlier query changes which connection pgbouncer uses next.
    for (const queries of [0, 1, 2]) {
      const onConnect = async (client: pg.ClientBase) => {
        for (let query = 0; query < queries; query++) await client.query('select 1');
      };
      const pool = new pg.Pool({ connectionString: url, max: 2, onConnect });
      expect([queries, await poolsTransactions(pool)]).toEqual([queries, true]);
      await pool.end();
    }
  }
});

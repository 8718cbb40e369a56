import { execFile } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-ports.js';

const run = promisify(execFile);
const versions = '/usr/lib/postgresql';
const programs = existsSync(versions)
  ? readdirSync(versions)
      .map((version) => join(versions, version, 'bin'))
      .filter((folder) => existsSync(join(folder, 'pg_basebackup')) && existsSync(join(folder, 'initdb')))
      .sort()
      .at(-1)
  : undefined;

/** Whether Debian's PostgreSQL programs are installed. */
export const hasPostgresPrograms = programs !== undefined;

/** A PostgreSQL server that the test starts and stops. */
export interface ClusterMember {
  readonly port: number;
  promote(): Promise<void>;
  /** Stops the server without a shutdown checkpoint, to simulate a crash. */
  crash(): Promise<void>;
}

/** A primary and a streaming standby that was created with `pg_basebackup`. */
export class PostgresCluster {
  readonly #folder: string;
  readonly #running = new Set<string>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async start(): Promise<{
    cluster: PostgresCluster;
    primary: ClusterMember;
    standby: ClusterMember;
  }> {
    const folder = mkdtempSync(join(tmpdir(), 'waxwing-cluster-'));
    const cluster = new PostgresCluster(folder);
    if (isRoot()) chownSync(folder, await postgresId(), -1);
    const [data, copy] = [join(folder, 'primary'), join(folder, 'standby')];
    const port = await freePort(2);
    await asPostgres('initdb', ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync']);
    const primary = await cluster.#start(data, port);
    const source = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
    await asPostgres('pg_basebackup', [
      ...source,
      '-D',
      copy,
      '--write-recovery-conf',
      '--checkpoint=fast',
      '--no-sync',
    ]);
    return { cluster, primary, standby: await cluster.#start(copy, port + 1) };
  }

  async remove(): Promise<void> {
    for (const data of this.#running) await this.#stop(data);
    rmSync(this.#folder, { recursive: true });
  }

  async #start(data: string, port: number): Promise<ClusterMember> {
    const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`;
    // Logs to a file: otherwise PostgreSQL would keep the pipe to this process open.
    await asPostgres('pg_ctl', ['-D', data, '-l', `${data}.log`, '-w', '-s', '-o', options, 'start']);
    this.#running.add(data);
    return {
      port,
      promote: () => asPostgres('pg_ctl', ['-D', data, '-w', '-s', 'promote']),
      crash: () => this.#stop(data),
    };
  }

  async #stop(data: string): Promise<void> {
    await asPostgres('pg_ctl', ['-D', data, '-m', 'immediate', '-w', '-s', 'stop']);
    this.#running.delete(data);
  }
}

function isRoot(): boolean {
  return userInfo().uid === 0;
}

async function postgresId(): Promise<number> {
  return Number((await run('id', ['-u', 'postgres'])).stdout);
}

/** Runs a program as a user other than root, because PostgreSQL does not start as root. */
async function asPostgres(program: string, args: readonly string[]): Promise<void> {
  const command = [join(programs ?? '', program), ...args];
  const [file = '', ...rest] = isRoot() ? ['runuser', '-u', 'postgres', '--', ...command] : command;
  await run(file, rest, { cwd: '/' });
}

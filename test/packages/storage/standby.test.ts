import { openDatabaseWithJobs } from '@waxwing/jobs';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClusterMember, hasPostgresPrograms, PostgresCluster } from '../../support/postgres-cluster.js';

const open = (url: string) =>
  openDatabaseWithJobs<unknown>({
    url,
    migrations: [],
    role: 'serving',
    now: Date.now,
    onJobError: () => undefined,
  });

describe.runIf(hasPostgresPrograms)('A database with a PostgreSQL primary and standby', () => {
  let cluster: PostgresCluster;
  let primary: ClusterMember;
  let standby: ClusterMember;
  beforeAll(async () => {
    ({ cluster, primary, standby } = await PostgresCluster.start());
  }, 120_000);
  afterAll(() => cluster?.remove());

  const urlOf = (...members: readonly ClusterMember[]) => {
    const hosts = members.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return `postgres://postgres@${hosts}/postgres`;
  };

  it('is rejected if only the standby is named, and the error identifies it as a standby', async () => {
    await expect(open(urlOf(standby))).rejects.toThrow(
      `The PostgreSQL database "postgres" at 127.0.0.1, port ${standby.port}, is a standby, which accepts no writes: name its primary in the URL, or both, as in `,
    );
  });

  it('is rejected with a target_session_attrs for a read-only host', async () => {
    await expect(open(`${urlOf(primary)}?target_session_attrs=any`)).rejects.toThrow(
      'The database URL has target_session_attrs=any, but the program needs a host that accepts writes: use target_session_attrs=read-write.',
    );
  });

  it('is used through the primary among several hosts, even after a promotion', async () => {
    const url = `${urlOf(standby, primary)}?target_session_attrs=read-write`;
    const database = await open(url);
    const portNow = async () => {
      const write = () =>
        database.write(async ({ db }) => {
          await sql`create table if not exists birds (name text)`.execute(db);
          return (await sql<{ port: number }>`select inet_server_port() as port`.execute(db)).rows[0]?.port;
        });
      return await write().catch((error: { code?: string }) => error.code);
    };
    try {
      expect(await portNow()).toBe(primary.port);
      expect(database.location).toBe(
        `PostgreSQL database "postgres" at 127.0.0.1, port ${standby.port} or at 127.0.0.1, port ${primary.port}`,
      );
      const heard: string[] = [];
      await database.signals.listen('birds', (payload) => void heard.push(String(payload)));
      await primary.crash();
      expect(await portNow()).toBe('DATABASE_UNAVAILABLE');
      await standby.promote();
      await expect.poll(portNow, { timeout: 20_000 }).toBe(standby.port);
      // The listener also switches to the standby.
      const wren = async () => {
        await database.write((transaction) => database.signals.notify(transaction, 'birds', 'wren'));
        return heard;
      };
      await expect.poll(wren, { timeout: 20_000 }).toContain('wren');
    } finally {
      await database.close();
    }
    await standby.crash();
    await expect(open(url)).rejects.toThrow(
      /, cannot be reached: no host accepts writes: 127\.0\.0\.1, port \d+: .*ECONNREFUSED.*; 127\.0\.0\.1, port \d+: .*; start the primary, or promote a standby\.$/,
    );
  });
});

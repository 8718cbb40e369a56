import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { apnsRequest, apnsToken } from '../../apps/relay/deliveries/deliveries-under-test.js';
import { CuttableProxy } from '../../support/cuttable-proxy.js';
import { eachPostgres } from '../../support/test-databases.js';
import { limitFileSizes, mountScarceDisk, type ScarceDisk } from '../chaos/scarce-disk.js';
import { undergo } from './undergo.js';
import { type WatchedRelay, watchRelay } from './watched-relay.js';

async function watch(databaseUrl: string): Promise<WatchedRelay> {
  const relay = await watchRelay({ databaseUrl });
  onTestFinished(() => relay.close());
  return relay;
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** A file system that can be filled. If the user may not mount one, a file size limit on this process. */
function scarceDisk(): ScarceDisk {
  try {
    return mountScarceDisk();
  } catch {
    return limitFileSizes();
  }
}

describe('the relay’s dashboard and one to five log lines', () => {
  it('explain a full disk', async () => {
    const disk = scarceDisk();
    onTestFinished(() => disk.close());
    const relay = await watch(`sqlite:${join(disk.folder, 'relay.sqlite')}`);
    await undergo(relay, {
      check: 'database',
      alert: 'WaxwingNotReady',
      cause: /the database cannot be written: .* disk/,
      async begin() {
        const notification = apnsRequest(await relay.addApns(apnsToken()));
        relay.waitForNoJobs();
        disk.useUp([process.pid]);
        for (let minute = 0; minute < 5; minute += 1) {
          await relay.notify([notification]);
          await relay.pass(1);
        }
        return () => disk.giveBack([process.pid]);
      },
    });
  });

  eachPostgres((backend) => {
    it('explain a database that is down', async () => {
      const url = new URL(await backend.freshUrl());
      const proxy = new CuttableProxy({ host: url.hostname, port: Number(url.port || 5432) });
      await proxy.open();
      onTestFinished(() => proxy.cut());
      const relay = await watch(Object.assign(url, { host: `127.0.0.1:${proxy.port}` }).href);
      await undergo(relay, {
        check: 'database',
        alert: 'WaxwingNotReady',
        cause: /^the database does not answer: (?!the database)\w/i,
        async begin() {
          relay.waitForNoJobs();
          await proxy.cut();
          await relay.pass(3);
          return () => proxy.open();
        },
      });
    });

    it('explain a role without free connections', async () => {
      const url = new URL(await backend.freshUrl());
      const owner = await connect(url.href);
      const user = `waxwing_full_${process.pid}`;
      const database = url.pathname.slice(1);
      await owner.query(`create role ${user} login`);
      onTestFinished(async () => {
        await owner.query(`reassign owned by ${user} to current_user`);
        await owner.query(`drop role ${user}`);
      });
      await owner.query(`alter database ${database} owner to ${user}`);
      const relay = await watch(Object.assign(url, { username: user }).href);
      const limit = (to: number) => owner.query(`alter role ${user} connection limit ${to}`);
      await undergo(relay, {
        check: 'database',
        alert: 'WaxwingNotReady',
        cause:
          /^the database does not answer: the user "\w+" has as many connections as its role allows; raise that limit/,
        async begin() {
          relay.waitForNoJobs();
          await limit(0);
          await owner.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [
            user,
          ]);
          await relay.pass(3);
          return () => limit(-1);
        },
      });
    });

    it('explain a pool whose connections all wait for a lock', async () => {
      const url = await backend.freshUrl();
      const relay = await watch(url);
      const [other, observer] = [await connect(url), await connect(url)];
      const waiting = async () => {
        const { rows } = await observer.query(
          `select count(*)::int as count from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows[0].count as number;
      };
      await undergo(relay, {
        check: 'database',
        alert: 'WaxwingNotReady',
        cause: /the database has not answered for 3 s: all connections of this process are in use/,
        async begin() {
          relay.waitForNoJobs();
          await other.query('begin');
          await other.query('lock table relay_devices in access exclusive mode');
          const { db } = relay.database;
          const reads = Array.from({ length: 10 }, () =>
            db.selectFrom('relay_devices').select('id').execute(),
          );
          await expect.poll(waiting, { timeout: 10_000 }).toBe(10);
          await relay.pass(1);
          return async () => {
            await other.query('rollback');
            await Promise.all(reads);
          };
        },
      });
    });
  });
});

import { chmodSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import type { DatabaseWithJobs } from '@waxwing/jobs';
import {
  createServerPush,
  type HostActor,
  type MountOptions,
  openPushDatabase,
  type ServerPush,
  type ServerPushTables,
} from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { Kysely, PostgresDialect, SqliteDialect } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RelayStandIn } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';

const realm = { uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836', url: 'https://bank.example.com', name: 'Bank' };
const content = { type: 'test', time: 1 } as const;

/** The host's own connection to the push database. */
interface HostConnection {
  run(text: string): Promise<unknown>;
  readonly connection: Parameters<ServerPush['notify']>[2];
  close(): Promise<void> | void;
}

async function connectPg(url: string): Promise<HostConnection> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return { run: (text) => client.query(text), connection: client, close: () => client.end() };
}

async function connectSqlite(url: string): Promise<HostConnection> {
  const path = url.slice('sqlite:'.length);
  const connection = new DatabaseSync(path);
  chmodSync(path, 0o600);
  return { run: async (text) => connection.exec(text), connection, close: () => connection.close() };
}

eachBackend((backend) => {
  describe('push mounted in a host server', () => {
    let relay: RelayStandIn;
    let url: string;
    let database: DatabaseWithJobs<ServerPushTables>;
    let options: MountOptions;
    let push: ServerPush;
    let host: HostConnection;
    let actor: HostActor | undefined = { userId: 7 };

    beforeAll(async () => {
      relay = await RelayStandIn.start();
      url = await backend.freshUrl();
      host = await (backend.name === 'sqlite' ? connectSqlite(url) : connectPg(url));
      // A table of the host in the same database.
      await host.run('create table orders (id integer)');
      database = await openPushDatabase({ url });
      options = {
        database,
        authenticate: async (head) => (head.header('x-session') === 'right' ? actor : undefined),
        publish: async () => {},
        realm,
        relay: { kind: 'configured', url: relay.url, serverId: 'id', serverKey: new Secret('key') },
      };
      push = await createServerPush(options);
    });
    afterEach(() => {
      actor = { userId: 7 };
    });
    afterAll(async () => {
      await database.jobs.stop(5000);
      await push.close();
      await database.close();
      await host.close();
      await relay.close();
    });

    const ask = (path: string, headers: Record<string, string> = { 'x-session': 'right' }) =>
      push.handle(new Request(`https://bank.example.com${path}`, { method: 'POST', headers }));
    const jobs = async () => {
      const all = await database.jobs.list({ kind: 'notifications/deliver-notification' });
      return Promise.all(
        all.map(async ({ id }) => JSON.parse((await database.jobs.show(id))?.payload ?? '')),
      );
    };
    const dropJobs = async () => {
      for (const { id } of await database.jobs.list({})) await database.jobs.drop(id);
    };

    it('rejects a second push on the same database, which would take over its jobs', async () => {
      await expect(createServerPush(options)).rejects.toThrow('share that push, or close it first');
    });

    it('handles requests with defaults for options that the host omits', async () => {
      const created = await ask('/api/v1/mobile_push/devices/register_client_device');
      expect(created.status).toBe(404);
      const answer = await ask('/api/v1/register_client_device');
      expect(await answer.json()).toMatchObject({ result: 'success', device_id: expect.any(Number) });
      expect(Object.keys(await push.clientDevicesOf(7 as never))).toHaveLength(1);
    });

    it('refuses unknown clients and bots', async () => {
      const unknown = await ask('/api/v1/register_client_device', {});
      expect([unknown.status, await unknown.json()]).toMatchObject([401, { code: 'INVALID_API_KEY' }]);
      actor = { userId: 7, isBot: true };
      const bot = await ask('/api/v1/register_client_device');
      expect([bot.status, await bot.json()]).toMatchObject([400, { msg: expect.stringContaining('bot') }]);
    });

    it('rejects a user id that is not an integer', async () => {
      actor = { userId: '9aa61d0b' as never };
      expect((await ask('/api/v1/register_client_device')).status).toBe(500);
      for (const wrong of ['9aa61d0b' as never, 0, 1.5]) {
        await expect(push.notify([7, wrong], { content })).rejects.toThrow('must be a positive integer');
      }
      expect(await jobs()).toEqual([]);
    });

    it('locks the user if the host provides a lock', async () => {
      const locked: unknown[] = [];
      actor = { userId: 7, lockUser: async ({ db }) => void locked.push(db) };
      expect((await ask('/api/v1/register_client_device')).status).toBe(200);
      expect(locked).toHaveLength(1);
    });

    it('notifies in a transaction of its own, with a default TTL of a day', async () => {
      await push.notify([7, 8], { content });
      expect(await jobs()).toEqual([
        { userId: 7, content },
        { userId: 8, content },
      ]);
      const [job] = await database.jobs.list({ kind: 'notifications/deliver-notification' });
      expect((job?.giveUpAt ?? 0) - Date.now()).toBeGreaterThan(23 * 3_600_000);
      await dropJobs();
    });

    it('notifies in a transaction on the host’s database', async () => {
      const failing = database.writeSingle(async (transaction) => {
        await push.notify([7], { content }, transaction);
        throw new Error('the host rolls back');
      });
      await expect(failing).rejects.toThrow('the host rolls back');
      expect(await jobs()).toEqual([]);
    });

    it('notifies if and only if the host commits, on a connection of the host', async () => {
      for (const end of ['rollback', 'commit']) {
        await host.run('begin');
        await host.run('insert into orders values (1)');
        await push.notify([7], { content }, host.connection);
        await push.notify([8, 9], { content }, host.connection);
        await host.run(end);
        expect((await jobs()).map(({ userId }) => userId)).toEqual(end === 'commit' ? [7, 8, 9] : []);
      }
      await dropJobs();
    });

    it('notifies if and only if the host commits, in a transaction of the host’s Kysely', async () => {
      const dialect =
        backend.name === 'postgres'
          ? new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) })
          : kyselyDialectOf(url);
      const db = new Kysely<{ orders: { id: number } }>({ dialect });
      const buy = (fails: boolean) =>
        db.transaction().execute(async (transaction) => {
          await transaction.insertInto('orders').values({ id: 2 }).execute();
          await push.notify([7], { content }, transaction);
          if (fails) throw new Error('too expensive');
        });
      try {
        await expect(buy(true)).rejects.toThrow('expensive');
        expect(await jobs()).toEqual([]);
        await buy(false);
        expect(await jobs()).toHaveLength(1);
      } finally {
        await db.destroy();
      }
      await dropJobs();
    });
  });
});

/** Adapts the driver, because Kysely's own dialect expects the interface of `better-sqlite3`. */
function kyselyDialectOf(url: string): SqliteDialect {
  const database = new DatabaseSync(url.slice('sqlite:'.length));
  return new SqliteDialect({
    database: {
      close: () => database.close(),
      prepare(text) {
        const statement = database.prepare(text);
        return {
          reader: false,
          run: (values) => statement.run(...(values as never[])),
          all: (values) => statement.all(...(values as never[])),
          iterate: (values) => statement.all(...(values as never[]))[Symbol.iterator](),
        };
      },
    },
  });
}

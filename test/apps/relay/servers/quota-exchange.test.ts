import type { Clock } from '@waxwing/service/lifecycle';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { QuotaExchange } from '#relay/servers/quota-exchange.js';
import { maximumServers, ServerQuotas } from '#relay/servers/server-quotas.js';
import { forgetFullQuotas, UsedQuotaStore } from '#relay/servers/used-quota-store.js';
import { type RelayDatabase, type RelayTables, relayMigrations } from '#relay/tables.js';
import { CuttableProxy } from '../../../support/cuttable-proxy.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { eachBackend, eachPostgres, type TestBackend } from '../../../support/test-databases.js';

const perMinute = 600;
const perSecond = perMinute / 60;
const noon = Date.UTC(2026, 0, 5, 12);

/** Creates the parts of one process. */
function startProcess(database: RelayDatabase, clock: Clock) {
  const { log, lines } = createMemoryLog();
  const quotas = new ServerQuotas(perMinute, clock);
  const store = new UsedQuotaStore(database);
  // The interval is long: an exchange runs only when the test calls `exchange`.
  const exchange = new QuotaExchange({ quotas, store, clock, log, intervalMilliseconds: 3_600_000 });
  /** Sends `requests` requests with one notification each. Returns the number of admitted requests. */
  const ask = (requests: number, serverId = 'a'): number => {
    for (let taken = 0; taken < requests; taken += 1) {
      try {
        quotas.take(serverId, 1);
      } catch {
        return taken;
      }
    }
    return requests;
  };
  const said = (level: string) => lines().filter((line) => line.level === level);
  return { quotas, exchange, ask, said };
}

type Process = ReturnType<typeof startProcess>;

async function exchangeAll(processes: readonly Process[]): Promise<void> {
  await Promise.all(processes.map(({ exchange }) => exchange.exchange()));
}

/**
 * Returns the number of admitted requests in `seconds` if each process gets, ten times a second, far more requests than
 * the quota allows.
 */
async function saturate(
  processes: readonly Process[],
  { time, seconds, isShared = true }: { time: { now: number }; seconds: number; isShared?: boolean },
): Promise<number> {
  let passed = 0;
  for (let tenth = 0; tenth < 10 * seconds; tenth += 1) {
    time.now += 100;
    for (const { ask } of processes) passed += ask(perSecond);
    if (isShared && tenth % 10 === 9) await exchangeAll(processes);
  }
  return passed;
}

const proxies: CuttableProxy[] = [];

afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.cut()));
});

describe('the quota of several processes on one database', () => {
  eachBackend((backend) => {
    /** Opens two connections if the backend allows a second process, otherwise one. */
    async function openTwice(): Promise<readonly [RelayDatabase, RelayDatabase]> {
      const url = await backend.freshUrl();
      const open = () => backend.open<RelayTables>({ migrations: relayMigrations, url });
      const first = await open();
      return [first, backend.name === 'postgres' ? await open() : first];
    }

    async function startTwo(leadMilliseconds = 0) {
      const time = { now: noon };
      const [database, second] = await openTwice();
      const clock = () => time.now;
      const processes = [
        startProcess(database, clock),
        startProcess(second, () => time.now + leadMilliseconds),
      ] as const;
      return { time, clock, database, processes };
    }

    it('is about one quota in total, and two quotas without the exchange', async () => {
      const { time, processes } = await startTwo();
      const minutes = 3;
      const passed = await saturate(processes, { time, seconds: 60 * minutes });
      // The full initial quota and its refill. The processes may exceed this by their usage between two exchanges.
      const granted = perMinute * (1 + minutes);
      expect(passed).toBeGreaterThan(0.97 * granted);
      expect(passed).toBeLessThan(granted + 2 * 10 * perSecond);
      const clock = () => time.now;
      const [alone] = await openTwice();
      const strangers = [startProcess(alone, clock), startProcess(alone, clock)];
      expect(await saturate(strangers, { time, seconds: 60 * minutes, isShared: false })).toBeGreaterThan(
        1.9 * granted,
      );
    });

    it('is charged later if both processes used the whole quota before an exchange', async () => {
      const { time, processes } = await startTwo();
      const [one, other] = processes;
      expect([one.ask(perMinute), other.ask(perMinute)]).toEqual([perMinute, perMinute]);
      await exchangeAll(processes);
      await exchangeAll(processes);
      time.now += 60_000;
      expect([one.ask(1), other.ask(1)]).toEqual([0, 0]);
      time.now += 30_000;
      expect(one.ask(perMinute)).toBe(perMinute / 2);
    });

    it("does not affect other servers' quotas", async () => {
      const { processes } = await startTwo();
      const [one, other] = processes;
      one.ask(perMinute, 'a');
      one.ask(perMinute / 2, 'b');
      await one.exchange.exchange();
      await other.exchange.exchange();
      expect(['a', 'b', 'c'].map((id) => other.ask(perMinute, id))).toEqual([0, perMinute / 2, perMinute]);
    });

    it('is not full for a new process, and a dead process loses the usage of at most one interval', async () => {
      const { time, clock, database, processes } = await startTwo();
      const [dying, other] = processes;
      dying.ask(400);
      await dying.exchange.exchange();
      // The process dies before it exchanges this usage.
      dying.ask(50);
      await other.exchange.exchange();
      const born = startProcess(database, clock);
      await born.exchange.start();
      await born.exchange.stop(0);
      expect([other.ask(perMinute), born.ask(perMinute)]).toEqual([200, 200]);
      time.now += 1000;
      expect([other.ask(perMinute), born.ask(perMinute)]).toEqual([perSecond, perSecond]);
    });

    it('is full at the time of Retry-After, regardless of exchanges in between', async () => {
      const { time, processes } = await startTwo();
      const [one] = processes;
      await one.exchange.exchange();
      expect(one.ask(perMinute)).toBe(perMinute);
      for (const milliseconds of [900, 1000, 58_100]) {
        time.now += milliseconds;
        await one.exchange.exchange();
      }
      expect(one.ask(perMinute)).toBe(perMinute);
    });

    it('is exchanged once more at shutdown', async () => {
      const { processes } = await startTwo();
      const [stopping, other] = processes;
      await stopping.exchange.start();
      stopping.ask(400);
      await stopping.exchange.stop(10_000);
      await other.exchange.exchange();
      expect(other.ask(perMinute)).toBe(200);
    });

    it('is enforced when clocks differ by seconds', async () => {
      const { time, processes } = await startTwo(5000);
      const passed = await saturate(processes, { time, seconds: 120 });
      expect(passed).toBeGreaterThan(0.97 * perMinute * 3);
      // A clock that is ahead refills the quota once, not repeatedly.
      expect(passed).toBeLessThan(perMinute * 3 + 2 * 10 * perSecond + 5 * perSecond);
    });

    it('is available again after a clock that was an hour ahead is set back', async () => {
      const { time, processes } = await startTwo();
      await saturate(processes, { time, seconds: 90 });
      time.now += 3_600_000;
      await saturate(processes, { time, seconds: 90 });
      time.now -= 3_600_000;
      const passed = await saturate(processes, { time, seconds: 120 });
      expect(passed).toBeGreaterThan(0.9 * perMinute * 2);
      expect(passed).toBeLessThan(perMinute * 3 + 2 * 10 * perSecond);
    });

    it('never exceeds the quota without an exchange, even if clocks are minutes apart', async () => {
      const { time, processes } = await startTwo(600_000);
      const passed = await saturate(processes, { time, seconds: 120 });
      expect(passed).toBeGreaterThan(0.97 * perMinute * 3);
      expect(passed).toBeLessThanOrEqual(2 * perMinute * 3);
    });

    it('has at most one row per server; reads are bounded, and rows of full quotas are deleted', async () => {
      const { time, database } = await startTwo();
      const store = new UsedQuotaStore(database);
      const used = Array.from({ length: maximumServers + 1 }, (_, index) => ({
        serverId: `server ${index}`,
        usedMilliseconds: index + 1,
      }));
      await store.add(used, time.now);
      await store.add(used.slice(0, 10), time.now);
      const rows = () => database.db.selectFrom('server_quotas').selectAll().execute();
      expect(await rows()).toHaveLength(maximumServers + 1);
      expect(await store.read(time.now)).toHaveLength(maximumServers);
      time.now += maximumServers - 1;
      const left = await store.read(time.now);
      expect(left.sort((a, b) => a.usedMilliseconds - b.usedMilliseconds)).toEqual([
        { serverId: 'server 9999', usedMilliseconds: 1 },
        { serverId: 'server 10000', usedMilliseconds: 2 },
      ]);
      const { signal } = new AbortController();
      expect(await forgetFullQuotas(database, time.now, signal)).toBe(maximumServers - 1);
      expect(await rows()).toHaveLength(2);
    });

    it('is enforced per process while the database is down, which is logged once', async () => {
      const { time, database, processes } = await startTwo();
      const [one] = processes;
      await database.close();
      const passed = await saturate([one], { time, seconds: 60 });
      expect(passed).toBeGreaterThan(0.97 * perMinute * 2);
      expect(passed).toBeLessThanOrEqual(perMinute * 2);
      expect(one.said('warn').map(({ msg }) => msg)).toEqual([
        "servers' quotas cannot be shared: each relay counts separately until the database answers",
      ]);
    });
  });

  eachPostgres((backend) => {
    it('is still enforced while another transaction locks its row, and shutdown does not wait for the lock', async () => {
      const url = await backend.freshUrl();
      const open = () => backend.open<RelayTables>({ migrations: relayMigrations, url });
      const [database, locker] = [await open(), await open()];
      const one = startProcess(database, () => noon);
      await locker.db.transaction().execute(async (transaction) => {
        await sql`lock table server_quotas in access exclusive mode`.execute(transaction);
        one.ask(perMinute / 2);
        const waiting = one.exchange.exchange();
        expect(one.ask(perMinute)).toBe(perMinute / 2);
        await one.exchange.stop(20);
        expect(await Promise.race([waiting, 'it still waits'])).toBe('it still waits');
      });
      const other = startProcess(locker, () => noon);
      // The first call waits for the exchange that the lock delayed, and the second exchanges the usage since then.
      await one.exchange.exchange();
      await one.exchange.exchange();
      await other.exchange.exchange();
      expect(other.ask(1)).toBe(0);
    });

    it('is shared again after a database outage, and no server is charged for the outage', async () => {
      const time = { now: noon };
      const clock = () => time.now;
      const { one, other, proxy } = await startBehindProxy(backend, clock);
      await proxy.cut();
      expect(await saturate([one, other], { time, seconds: 60 })).toBeGreaterThan(1.9 * perMinute * 2);
      await proxy.open();
      await exchangeAll([one, other]);
      const passed = await saturate([one, other], { time, seconds: 120 });
      expect(passed).toBeGreaterThan(0.97 * perMinute * 2);
      expect(passed).toBeLessThan(perMinute * 3 + 2 * 10 * perSecond);
      for (const { said } of [one, other]) {
        expect([said('warn').length, said('info').map(({ msg }) => msg)]).toEqual([
          1,
          ["servers' quotas are shared with the other relays again"],
        ]);
      }
    });
  });
});

async function startBehindProxy(backend: TestBackend, clock: Clock) {
  const url = new URL(await backend.freshUrl());
  const proxy = new CuttableProxy({ host: url.hostname, port: Number(url.port || 5432) });
  await proxy.open();
  proxies.push(proxy);
  url.host = `127.0.0.1:${proxy.port}`;
  const open = () =>
    backend.open<RelayTables>({
      migrations: relayMigrations,
      url: url.href,
      // Callers get the error of the outage; background errors are irrelevant here.
      onJobError: () => undefined,
    });
  return { one: startProcess(await open(), clock), other: startProcess(await open(), clock), proxy };
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkResults } from '@waxwing/service/http';
import { sql } from 'kysely';
import {
  startDeliveriesUnderTest,
  type UnderTestOptions,
  until,
} from '../../apps/relay/deliveries/deliveries-under-test.js';
import { dashboardRequestsTo } from '../../support/dashboard-requests.js';
import { idle } from '../../support/idle.js';
import type { Scrape } from './raised-alerts.js';

const adminToken = 'the-token-of-the-operator-of-this-relay';
const troubleLevels = ['warn', 'error', 'fatal'];

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly cause?: string;
  readonly remedy?: string;
}

export type WatchedRelay = Awaited<ReturnType<typeof watchRelay>>;

/** Starts a relay with a dashboard and a clock that the test advances. */
export async function watchRelay(options: UnderTestOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-incident-'));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, `${adminToken}\n`, { mode: 0o600 });
  const time = { now: Date.UTC(2026, 0, 5, 12), stepped: 0 };
  const pace = { waitsForJobs: true };
  const relay = await startDeliveriesUnderTest({
    clock: () => time.now + time.stepped,
    monotonic: () => time.now,
    // Upkeep jobs use these timers, which do not follow the test's clock.
    timings: { delayDivisor: 1, queueCountMilliseconds: 20 },
    ...options,
    environment: { RELAY_ADMIN_TOKEN_FILE: tokenFile, RELAY_ADMIN_ON: 'main', ...options.environment },
  });
  relay.metrics.watchReadiness(async () => checkResults(await relay.readiness.look()));
  const requests = dashboardRequestsTo(relay.app, adminToken);
  let cookie = await requests.session();
  const get = async (path: string) => {
    const ask = () => requests.ask('GET', `/admin/api${path}`, { cookie });
    let answer = await ask();
    if (answer.statusCode === 401) {
      // The session has expired, because the test's clock has advanced by eight hours.
      cookie = await requests.session();
      answer = await ask();
    }
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.body}`);
    return answer.json();
  };
  const look = async (): Promise<Check[]> => (await get('/overview?minutes=1')).checks;
  return {
    ...relay,
    /** From now on, does not wait for jobs, which cannot finish while the database is down. */
    waitForNoJobs() {
      pace.waitsForJobs = false;
    },
    stopJobs: async () => {
      pace.waitsForJobs = false;
      await relay.database.jobs.stop(0);
    },
    databaseFile: join(relay.dir, 'relay.sqlite'),
    until,
    get,
    look,
    post: (path: string, payload: object) => requests.ask('POST', `/admin/api${path}`, { cookie, payload }),
    now: () => time.now + time.stepped,
    scrape: async (): Promise<Scrape> => ({ text: await relay.metrics.text(), at: time.now }),
    keyListExpiresAt: () => relay.context.keyRing.publishedKeyList().expiresAt,
    stepClock(milliseconds: number) {
      time.stepped += milliseconds;
    },
    passSeconds(seconds: number) {
      time.now += seconds * 1000;
    },
    passUntil(instant: number) {
      time.now = instant;
    },
    /**
     * Advances the clock minute by minute. Reads the overview after each step, which runs the same readiness checks
     * that a process runs every minute.
     */
    async pass(minutes: number): Promise<void> {
      for (let minute = 0; minute < minutes; minute += 1) {
        // Waits first: if the clock passed the lease of a running job, another worker would take over the job.
        if (pace.waitsForJobs) await idle(relay.database.jobs);
        time.now += 60_000;
        await look();
      }
    },
    /** The failed checks. */
    wrong: async () => (await look()).filter(({ ok }) => !ok),
    /** Log lines at level `warn` or above. */
    troubles: () => relay.log.lines().filter(({ level }) => troubleLevels.includes(String(level))),
    /** Makes SQLite refuse writes until the returned function is called. */
    async refuseWrites() {
      pace.waitsForJobs = false;
      const set = (value: 0 | 1) => sql`pragma query_only = ${sql.lit(value)}`.execute(relay.database.db);
      await set(1);
      return () => set(0);
    },
    async close() {
      await relay.close();
      rmSync(folder, { recursive: true });
    },
  };
}

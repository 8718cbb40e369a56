import { packageVersion } from '@waxwing/service/command-line';
import { dashboardCheck } from '@waxwing/service/dashboard';
import { z } from 'zod';
import type { DashboardContext } from '../dashboard-context.js';
import { minuteOf } from '../minutes/minute-store.js';
import { describeChecks } from './checks.js';
import { describeLatencies, describeMinutes } from './minute-figures.js';
import { readFigures, type StoredQueue } from './stored-figures.js';

const version = packageVersion(new URL('../../../package.json', import.meta.url));
const minutesOfLatency = 60;
const count = z.number().int();
const counts = z.array(count);

export const overviewAnswer = z.object({
  now: count,
  version: z.string(),
  started_at: count,
  ready: z.boolean(),
  checks: z.array(dashboardCheck),
  queue: z.object({
    due: count,
    waiting: count,
    running: count,
    dead: count,
    oldest_due_age_ms: count.nullable(),
  }),
  latency_ms: z.object({ p50: count, p95: count, p99: count }).nullable(),
  registrations: z.object({ active: count.nullable(), servers: count, devices: count.nullable() }),
  minutes: z.object({
    at: counts,
    registrations: counts,
    outcomes: z.array(z.object({ vendor: z.string(), outcome: z.string(), counts })),
  }),
});

export type Overview = z.infer<typeof overviewAnswer>;

type OverviewContext = Pick<
  DashboardContext,
  'relay' | 'readiness' | 'load' | 'lastFigures' | 'keyRing' | 'deliveries' | 'startedAt'
>;

/**
 * Reads the overview from in-memory counters, per-minute totals and bounded job counts. Never scans a busy table. While
 * the database fails its check, returns the stored figures from the last successful read.
 */
export async function readOverview(context: OverviewContext, minutes: number): Promise<Overview> {
  const { relay, readiness, load, lastFigures, keyRing, deliveries, startedAt } = context;
  const { clock, activity, deviceGauge } = relay;
  const now = clock();
  const last = minuteOf(now);
  const states = await readiness.look();
  const first = last - Math.max(minutes, minutesOfLatency) + 1;
  const { breakers, queue, figures } = await lastFigures.read(states, () => readFigures(relay, first, last));
  const lastHour = new Map([...figures].filter(([minute]) => minute > last - minutesOfLatency));
  const devices = deviceGauge.total ?? null;
  const checks = describeChecks({
    readiness: states,
    load: load.problems,
    breakers,
    deadLetters: queue.dead,
    clockProblem: keyRing.describe().problem,
    keyListExpiresAt: keyRing.publishedKeyList().expiresAt,
    isDeliveryConfigured: deliveries.apps.kind === 'configured',
    now,
  });
  return {
    now,
    version,
    started_at: startedAt,
    ready: Object.values(states).every((state) => typeof state !== 'string'),
    checks,
    queue: describeQueue(queue, now),
    latency_ms: describeLatencies(lastHour),
    registrations: { active: devices, servers: activity.serverTotals.active, devices },
    minutes: describeMinutes(figures, last, minutes),
  };
}

function describeQueue({ oldestDueAt, ...counts }: StoredQueue, now: number): Overview['queue'] {
  return { ...counts, oldest_due_age_ms: oldestDueAt === undefined ? null : Math.max(0, now - oldestDueAt) };
}

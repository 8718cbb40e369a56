import type { RelayLinkStatus } from '@waxwing/server-push';
import { packageVersion } from '@waxwing/service/command-line';
import { dashboardCheck } from '@waxwing/service/dashboard';
import { z } from 'zod';
import type { DashboardContext } from '../dashboard-context.js';
import { describeChecks } from './checks.js';
import { readFigures } from './stored-figures.js';

const version = packageVersion(new URL('../../../package.json', import.meta.url));
const count = z.number().int();
const instant = count.nullable();
const event = z.object({ at: count, reason: z.string() }).nullable();

export const overviewAnswer = z.object({
  now: count,
  version: z.string(),
  started_at: count,
  ready: z.boolean(),
  realm: z.object({ name: z.string(), url: z.string() }),
  checks: z.array(dashboardCheck),
  relay: z.object({
    state: z.enum(['none', 'untested', 'working', 'failing']),
    last_success_at: instant,
    failing_since: instant,
    last_error: event,
    last_rejection: event,
  }),
  devices: z.array(z.object({ kind: z.string(), active: count, pending: count, failed: count })),
  event_queues: z.object({ open: count, users: count }),
  jobs: z.array(z.object({ kind: z.string(), due: count, waiting: count, running: count, dead: count })),
  oldest_due_age_ms: instant,
});

export type Overview = z.infer<typeof overviewAnswer>;

type OverviewContext = Pick<DashboardContext, 'server' | 'readiness' | 'countedRows' | 'lastFigures'>;

/** Reads the overview. While the database fails its readiness check, returns the last known figures. */
export async function readOverview({
  server,
  readiness,
  countedRows,
  lastFigures,
}: OverviewContext): Promise<Overview> {
  const { clock, realm, serverPush, startedAt } = server;
  const now = clock();
  const states = await readiness.look();
  const { link, pushStatus, devices, eventQueues, jobs, oldestDueAt } = await lastFigures.read(states, () =>
    readFigures(server, countedRows),
  );
  const deadJobs = jobs.reduce((sum, { dead }) => sum + dead, 0);
  const hasRelay = serverPush.isConfigured;
  const checks = describeChecks({ readiness: states, hasRelay, link, pushStatus, deadJobs });
  return {
    now,
    version,
    started_at: startedAt,
    ready: Object.values(states).every((state) => typeof state !== 'string'),
    realm: { name: realm.name, url: realm.url },
    checks,
    relay: describeRelay(link, hasRelay),
    devices: devices.map((counts) => ({ ...counts })),
    event_queues: eventQueues,
    jobs: jobs.map((counts) => ({ ...counts })),
    oldest_due_age_ms: oldestDueAt === undefined ? null : Math.max(0, now - oldestDueAt),
  };
}

function describeRelay(link: RelayLinkStatus, hasRelay: boolean): Overview['relay'] {
  return {
    state: hasRelay ? link.state : 'none',
    last_success_at: link.lastSuccessAt ?? null,
    failing_since: link.failingSince ?? null,
    last_error: link.lastError ?? null,
    last_rejection: link.lastRejection ?? null,
  };
}

import { parseWithMessages, serverAnalyticsPath, uuid } from '@waxwing/protocol';
import { operation } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import { z } from 'zod';
import type { RelayDatabase } from '../../tables.js';
import { server } from '../authenticate-server.js';
import type { ServerDirectory } from '../server-directory.js';
import { costOfBody, type ServerQuotas } from '../server-quotas.js';
import { claimRealms, maximumRealmsPerServer } from './claim-realms.js';
import type { ReportedCounts } from './reported-counts.js';
import { invalid, readReportedList } from './reported-lists.js';

interface Context {
  readonly servers: ServerDirectory;
  readonly clock: Clock;
  readonly database: RelayDatabase;
  readonly quotas: Pick<ServerQuotas, 'take'>;
  readonly reportedCounts: ReportedCounts;
}

/** Maximum number of rows per list that a stock server sends in one report. */
const maximumRows = 10_000;
/**
 * Room for three full lists, about 8 MiB percent-encoded. If the relay refused a report, the server would disable push.
 */
const bodyLimitBytes = 16 * 1024 * 1024;

/**
 * `GET /api/v1/remotes/server/analytics/status` (docs/protocol.md#remotesserveranalytics): returns the highest ids of
 * the counts that a server has reported, so that the server sends only later counts. The relay does not store the
 * counts, and remembers the ids until it restarts.
 */
export const getAnalyticsStatus = operation({
  method: 'GET',
  path: `${serverAnalyticsPath}/status`,
  summary: 'Returns the highest ids of the counts that a server reported.',
  actor: server,
  parameters: z.object({}),
  answer: z.object({
    last_realm_count_id: z.number().int(),
    last_installation_count_id: z.number().int(),
    last_realmauditlog_id: z.number().int(),
  }),
  codes: ['RATE_LIMIT_HIT'],
  charge: ({ quotas }: Context, { serverId }) => quotas.take(serverId, 1),
  async handle({ reportedCounts }: Context, { actor: { serverId } }) {
    const { realmCounts, installationCounts, auditLogRows } = reportedCounts.of(serverId);
    return {
      last_realm_count_id: realmCounts,
      last_installation_count_id: installationCounts,
      last_realmauditlog_id: auditLogRows,
    };
  },
});

// The relay ignores the other fields that servers report for each realm. Later versions may add more.
const realm = z.object({ uuid });
// Strings that the handler parses in chunks: a schema would parse megabytes in one event-loop tick.
const rowsText = z.string().meta({ openApiJson: z.array(z.unknown()).max(maximumRows) });
const auditLogText = z.string().meta({ openApiJson: z.array(z.unknown()).max(maximumRows).nullable() });
const realmsText = z.string().meta({ openApiJson: z.array(realm).max(maximumRealmsPerServer).nullable() });

/**
 * `POST /api/v1/remotes/server/analytics` (docs/protocol.md#remotesserveranalytics): a stock server reports its realms
 * once an hour, and disables push if the relay refuses the report. Stores new realms, and discards the counts.
 *
 * Errors, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503; REQUEST_VARIABLE_MISSING and BAD_REQUEST
 * for missing or invalid parameters; BAD_REQUEST "Duplicate registration detected." for a realm of another server.
 */
export const postAnalytics = operation({
  method: 'POST',
  path: serverAnalyticsPath,
  summary: 'Stores the realms that a server reports.',
  actor: server,
  parameters: z.object({
    realm_counts: rowsText,
    installation_counts: rowsText,
    realmauditlog_rows: auditLogText.optional(),
    realms: realmsText.optional(),
    version: z.string().optional(),
    merge_base: z.string().optional(),
    api_feature_level: z.string().optional(),
  }),
  bodyLimitBytes,
  answer: z.object({
    realms: z.record(
      z.string(),
      z.object({ can_push: z.boolean(), expected_end_timestamp: z.number().int().nullable() }),
    ),
  }),
  codes: ['RATE_LIMIT_HIT', 'BAD_REQUEST'],
  charge: ({ quotas }: Context, { serverId }) => quotas.take(serverId, costOfBody),
  async handle({ clock, database, reportedCounts }: Context, request) {
    const { serverId } = request.actor;
    const ids = {
      realmCounts: await highestIdOf(request, 'realm_counts'),
      installationCounts: await highestIdOf(request, 'installation_counts'),
      auditLogRows: await highestIdOf(request, 'realmauditlog_rows'),
    };
    const realmUuids = await realmsOf(request);
    if (realmUuids.length > 0) await claimRealms(database, { serverId, realmUuids, now: clock() });
    reportedCounts.add(serverId, ids);
    const status = { can_push: true, expected_end_timestamp: null };
    return { realms: Object.fromEntries(realmUuids.map((realmUuid) => [realmUuid, status])) };
  },
});

type Lists = 'realm_counts' | 'installation_counts' | 'realmauditlog_rows' | 'realms';

interface Report {
  readonly parameters: Readonly<Partial<Record<Lists, string | undefined>>>;
  nextTick(): Promise<void>;
}

/** Returns the highest id in a list of rows; 0 if no row has an integer `id`. */
async function highestIdOf(report: Report, name: Lists): Promise<number> {
  let highest = 0;
  await readReportedList(report.parameters[name] ?? 'null', {
    name,
    maximumRows,
    nextTick: () => report.nextTick(),
    onRow(row) {
      const { id } = Object(row) as { readonly id?: unknown };
      if (Number.isSafeInteger(id)) highest = Math.max(highest, id as number);
    },
  });
  return highest;
}

/**
 * Returns the UUIDs of the reported realms, lowercase.
 * @throws ProtocolError BAD_REQUEST for a realm without a UUID.
 */
async function realmsOf(report: Report): Promise<string[]> {
  const uuids: string[] = [];
  await readReportedList(report.parameters.realms ?? 'null', {
    name: 'realms',
    maximumRows: maximumRealmsPerServer,
    nextTick: () => report.nextTick(),
    onRow(row, index) {
      const parsed = parseWithMessages(realm, row);
      if (parsed.success) uuids.push(parsed.data.uuid);
      else throw invalid(`realms[${index}]["uuid"]`, parsed.error.issues[0]?.message ?? 'is missing');
    },
  });
  return uuids;
}

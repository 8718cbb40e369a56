import { serverAnalyticsPath, uuid } from '@waxwing/protocol';
import { jsonParameter, operation, optionalJsonParameter } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import { z } from 'zod';
import type { RelayDatabase } from '../../tables.js';
import { server } from '../authenticate-server.js';
import type { ServerDirectory } from '../server-directory.js';
import { costOfBody, type ServerQuotas } from '../server-quotas.js';
import { claimRealms, maximumRealmsPerServer } from './claim-realms.js';
import type { ReportedCounts } from './reported-counts.js';

interface Context {
  readonly servers: ServerDirectory;
  readonly clock: Clock;
  readonly database: RelayDatabase;
  readonly quotas: Pick<ServerQuotas, 'take'>;
  readonly reportedCounts: ReportedCounts;
}

/** Rows per list that a stock server sends at once. */
const maximumRows = 10_000;
/** Room for three full lists, percent-encoded: about 8 MiB. A refusal would make the server switch push off. */
const bodyLimitBytes = 16 * 1024 * 1024;

/**
 * `GET /api/v1/remotes/server/analytics/status` (docs/protocol.md#remotesserveranalytics): the newest counts that a
 * server reported. The server sends only later ones. The relay keeps none, but remembers the ids until it restarts.
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

const rows = z.array(z.unknown()).max(maximumRows);
// A server reports more of each realm than this, and later versions yet more.
const realms = z.array(z.object({ uuid })).max(maximumRealmsPerServer);

/**
 * `POST /api/v1/remotes/server/analytics` (docs/protocol.md#remotesserveranalytics): a stock server reports its realms once
 * an hour, and with them its right to push. Stores new realms, accepts the counts and keeps none of them.
 *
 * Errors, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503; REQUEST_VARIABLE_MISSING and BAD_REQUEST for
 * parameters; BAD_REQUEST "Duplicate registration detected." for a realm of another server.
 */
export const postAnalytics = operation({
  method: 'POST',
  path: serverAnalyticsPath,
  summary: 'Takes the realms that a server reports.',
  actor: server,
  parameters: z.object({
    realm_counts: jsonParameter(rows),
    installation_counts: jsonParameter(rows),
    realmauditlog_rows: optionalJsonParameter(rows.nullable()),
    realms: optionalJsonParameter(realms.nullable()),
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
  async handle({ clock, database, reportedCounts }: Context, { actor: { serverId }, parameters }) {
    const realmUuids = (parameters.realms ?? []).map((realm) => realm.uuid);
    if (realmUuids.length > 0) await claimRealms(database, { serverId, realmUuids, now: clock() });
    reportedCounts.add(serverId, {
      realmCounts: parameters.realm_counts,
      installationCounts: parameters.installation_counts,
      auditLogRows: parameters.realmauditlog_rows ?? [],
    });
    const status = { can_push: true, expected_end_timestamp: null };
    return { realms: Object.fromEntries(realmUuids.map((realmUuid) => [realmUuid, status])) };
  },
});

import { sharedDashboardOperations } from '@waxwing/service/dashboard';
import { type AnyOperation, type BoundOperation, bindOperations } from '@waxwing/service/http';
import { checkApp, listApps } from './apps/app-operations.js';
import { showAudit } from './audit/audit-operation.js';
import type { DashboardContext } from './dashboard-context.js';
import { listDeadLetters, retryDeadLetter } from './deliveries/dead-letter-operations.js';
import { listFrozen, thawFrozen } from './deliveries/frozen-operations.js';
import { retireRingKey, revokeRingKey, rotateRing, showKeys, showRetirement } from './keys/key-operations.js';
import { showOverview } from './overview/overview-operation.js';
import { inviteServer, listServers, resumeOneServer, suspendOneServer } from './servers/server-operations.js';

/** All operations of the dashboard. Only its page may call them. */
const dashboardOperations: readonly AnyOperation<DashboardContext>[] = [
  ...sharedDashboardOperations,
  showOverview,
  showKeys,
  rotateRing,
  showRetirement,
  retireRingKey,
  revokeRingKey,
  listServers,
  suspendOneServer,
  resumeOneServer,
  inviteServer,
  listApps,
  checkApp,
  listDeadLetters,
  retryDeadLetter,
  listFrozen,
  thawFrozen,
  showAudit,
];

export function bindDashboardOperations(context: DashboardContext): BoundOperation[] {
  return bindOperations(context, dashboardOperations);
}

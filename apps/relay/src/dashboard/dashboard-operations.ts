import { type AnyOperation, type BoundOperation, bindOperations } from '@waxwing/service/http';
import { checkApp, listApps } from './apps/app-operations.js';
import { showAudit } from './audit/audit-operation.js';
import type { DashboardContext } from './dashboard-context.js';
import { listDeadLetters, retryDeadLetter } from './deliveries/dead-letter-operations.js';
import { listFrozen, thawFrozen } from './deliveries/frozen-operations.js';
import { followEvents } from './events/events-operation.js';
import { retireRingKey, revokeRingKey, rotateRing, showKeys, showRetirement } from './keys/key-operations.js';
import { showOverview } from './overview/overview-operation.js';
import { redirectToPage, showPage, showPageAsset, showPageFile } from './page-operations.js';
import { inviteServer, listServers, resumeOneServer, suspendOneServer } from './servers/server-operations.js';
import { showSession, signIn, signOut } from './session-operations.js';

/** All operations of the dashboard. Only its page may call them. */
const dashboardOperations: readonly AnyOperation<DashboardContext>[] = [
  redirectToPage,
  showPage,
  showPageFile,
  showPageAsset,
  signIn,
  showSession,
  signOut,
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
  followEvents,
  showAudit,
];

export function bindDashboardOperations(context: DashboardContext): BoundOperation[] {
  return bindOperations(context, dashboardOperations);
}

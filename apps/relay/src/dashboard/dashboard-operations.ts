import { type AnyOperation, type BoundOperation, bindOperations } from '@waxwing/service/http';
import type { DashboardContext } from './dashboard-context.js';
import { redirectToPage, showPage, showPageAsset, showPageFile } from './page-operations.js';
import { showSession, signIn, signOut } from './session-operations.js';

/** All operations of the dashboard, for its page alone. */
const dashboardOperations: readonly AnyOperation<DashboardContext>[] = [
  redirectToPage,
  showPage,
  showPageFile,
  showPageAsset,
  signIn,
  showSession,
  signOut,
];

export function bindDashboardOperations(context: DashboardContext): BoundOperation[] {
  return bindOperations(context, dashboardOperations);
}

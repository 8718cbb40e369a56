import type { AnyOperation } from '../http/index.js';
import type { DashboardParts } from './dashboard-parts.js';
import { followEvents } from './events-operation.js';
import { redirectToPage, showPage, showPageAsset, showPageFile } from './page-operations.js';
import { showSession, signIn, signOut } from './session-operations.js';

/** The operations that all dashboards share. Only the dashboard page may call them. */
export const sharedDashboardOperations: readonly AnyOperation<DashboardParts>[] = [
  redirectToPage,
  showPage,
  showPageFile,
  showPageAsset,
  signIn,
  showSession,
  signOut,
  followEvents,
];

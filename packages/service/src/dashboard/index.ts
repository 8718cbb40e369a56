export type { AdminSession } from './admin-sessions.js';
export { AdminToken } from './admin-token.js';
export { administrator, writingAdministrator } from './administrator.js';
export {
  type DashboardCheck,
  dashboardCheck,
  failedCheck,
  failedFirst,
  readinessChecks,
} from './dashboard-check.js';
export { type DashboardParts, openDashboardParts } from './dashboard-parts.js';
export { type DashboardPorts, noDashboard, onPort } from './dashboard-ports.js';
export { LastReading } from './last-reading.js';
export { refuseAct } from './refuse-act.js';
export { sharedDashboardOperations } from './shared-operations.js';

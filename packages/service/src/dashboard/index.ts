export type { AdminSession } from './admin-sessions.js';
export { AdminToken } from './admin-token.js';
export { administrator, writingAdministrator } from './administrator.js';
export { type DashboardParts, openDashboardParts } from './dashboard-parts.js';
export { refuseAct } from './refuse-act.js';
export { sharedDashboardOperations } from './shared-operations.js';

/** Who acts through the dashboard, for audit logs. */
export const actor = 'dashboard';

/** Actor name of the dashboard in audit logs. */
export const actor = 'dashboard';

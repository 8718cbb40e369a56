import type { AdminNames } from '@waxwing/server-push/foundation';

/** The names of this server's commands and settings, for use in messages about push. */
export const adminNames: AdminNames = {
  program: 'waxwing-server',
  push: 'waxwing-server push',
  prefix: 'SERVER_',
};

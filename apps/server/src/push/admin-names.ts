import type { AdminNames } from '@waxwing/server-push/foundation';

/** How this server's messages about push name its commands and settings. */
export const adminNames: AdminNames = {
  program: 'waxwing-server',
  push: 'waxwing-server push',
  prefix: 'SERVER_',
};

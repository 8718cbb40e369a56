import type { AdminNames } from '../admin-names.js';

/** How messages about a mounted push name its commands and settings. */
export const mountedNames: AdminNames = {
  program: 'waxwing-server-push',
  push: 'waxwing-server-push',
  prefix: 'SERVER_PUSH_',
};

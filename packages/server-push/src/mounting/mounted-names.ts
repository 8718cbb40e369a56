import type { AdminNames } from '../admin-names.js';

/** How messages name the commands and settings of a mounted push. */
export const mountedNames: AdminNames = {
  program: 'waxwing-server-push',
  push: 'waxwing-server-push',
  prefix: 'SERVER_PUSH_',
};

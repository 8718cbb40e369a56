import type { AdminNames } from '../admin-names.js';

/** Names used in messages for the commands and settings of a mounted push. */
export const mountedNames: AdminNames = {
  program: 'waxwing-server-push',
  push: 'waxwing-server-push',
  prefix: 'SERVER_PUSH_',
};

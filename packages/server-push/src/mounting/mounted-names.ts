import type { AdminNames } from '../admin-names.js';

/** Names that messages use for the commands and settings of a mounted push. */
export const mountedNames: AdminNames = {
  program: 'waxwing-server-push',
  push: 'waxwing-server-push',
  prefix: 'SERVER_PUSH_',
};

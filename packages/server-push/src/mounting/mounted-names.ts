import type { AdminNames } from '../admin-names.js';

/** Names of a mounted push's commands and settings, as shown in messages to admins. */
export const mountedNames: AdminNames = {
  program: 'waxwing-server-push',
  push: 'waxwing-server-push',
  prefix: 'SERVER_PUSH_',
};

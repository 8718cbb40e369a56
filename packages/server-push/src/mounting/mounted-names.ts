import type { AdminNames } from '../admin-names.js';

/** The names of a mounted push's commands and settings in messages. */
export const mountedNames: AdminNames = {
  program: 'waxwing-server-push',
  push: 'waxwing-server-push',
  prefix: 'SERVER_PUSH_',
};

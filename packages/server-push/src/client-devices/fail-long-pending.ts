import { failLongPendingTokens } from './pending-tokens.js';

/** The task that fails pending newer-generation registrations whose job no longer exists. */
export const failingTokens = { name: 'client-devices/fail-long-pending', fail: failLongPendingTokens };

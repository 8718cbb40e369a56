import { failLongPendingTokens } from './pending-tokens.js';

/** Fails pending registrations of the newer generation whose job no longer exists. */
export const failingTokens = { name: 'client-devices/fail-long-pending', fail: failLongPendingTokens };

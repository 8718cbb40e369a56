import { failLongPendingTokens } from './pending-tokens.js';

/** Fails registrations of the newer generation whose job is gone. */
export const failingTokens = { name: 'client-devices/fail-long-pending', fail: failLongPendingTokens };

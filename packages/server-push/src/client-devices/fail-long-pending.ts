import { failLongPendingTokens } from './pending-tokens.js';

/** Fails the newer generation's registrations whose job is gone. */
export const failingTokens = { name: 'client-devices/fail-long-pending', fail: failLongPendingTokens };

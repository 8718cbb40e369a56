import { ProtocolError } from '@waxwing/protocol';
import type { RelayServerTables } from './server-tables.js';

/** `suspended` by the relay's operator; `deactivated` by the server itself. `servers resume` ends both. */
export type ServerState = 'active' | 'suspended' | 'deactivated';

export function stateOf(
  server: Pick<RelayServerTables['servers'], 'suspended_at' | 'deactivated_at'>,
): ServerState {
  if (server.suspended_at !== null) return 'suspended';
  return server.deactivated_at === null ? 'active' : 'deactivated';
}

// A stock server shows these texts to its administrator. Other clients get them only when they transfer a hostname, and
// a transfer reveals anyway whether the hostname is registered.
const refusals = {
  suspended:
    'The operator of this push notification service has suspended your server: ask the operator for the reason',
  deactivated: 'The mobile push notification service registration for your server has been deactivated',
} as const;

/** @throws ProtocolError UNAUTHORIZED for a server that is not active. */
export function requireActive(state: ServerState): void {
  if (state !== 'active') throw new ProtocolError('UNAUTHORIZED', { message: refusals[state] });
}

import { ProtocolError } from '@waxwing/protocol';
import type { KnownUser } from './credential-store.js';
import { type Role, roles } from './roles.js';

/** Returns whether a role has administrator rights: administrators and owners. */
export function isAdministrator(role: Role): boolean {
  return role === roles.owner || role === roles.administrator;
}

/** Checks that a user or bot is an administrator or owner. @throws ProtocolError UNAUTHORIZED_PRINCIPAL if not. */
export function requireAdministrator({ role }: Pick<KnownUser, 'role'>): void {
  if (isAdministrator(role)) return;
  throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message: 'Must be an organization administrator' });
}

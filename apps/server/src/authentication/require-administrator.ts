import { ProtocolError } from '@waxwing/protocol';
import { type Role, roles } from '../permissions/roles.js';
import type { KnownUser } from './credential-store.js';

/** Whether somebody with this role administers the organisation; owners do. */
export function isAdministrator(role: Role): boolean {
  return role === roles.owner || role === roles.administrator;
}

/** @throws ProtocolError UNAUTHORIZED_PRINCIPAL for whoever is neither an administrator nor an owner; bots may be. */
export function requireAdministrator({ role }: Pick<KnownUser, 'role'>): void {
  if (isAdministrator(role)) return;
  throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message: 'Must be an organization administrator' });
}

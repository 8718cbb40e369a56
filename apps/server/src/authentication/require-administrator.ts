import { ProtocolError } from '@waxwing/protocol';
import { roles } from '../permissions/roles.js';
import type { KnownUser } from './credential-store.js';

/** @throws ProtocolError UNAUTHORIZED_PRINCIPAL for whoever is neither an administrator nor an owner; bots may be. */
export function requireAdministrator({ role }: Pick<KnownUser, 'role'>): void {
  if (role === roles.owner || role === roles.administrator) return;
  throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message: 'Must be an organization administrator' });
}

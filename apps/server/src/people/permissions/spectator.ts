import type { UserId } from '@waxwing/protocol';
import { roles } from '../../platform/authentication/roles.js';
import type { PermissionHolder } from './permission-store.js';

/**
 * The stand-in for a client without an account in permission checks: a guest without channels and conversations. User
 * ids begin at 1, so no user has this id.
 */
export const spectator: PermissionHolder = { id: 0 as UserId, role: roles.guest };

import type { UserId } from '@waxwing/protocol';
import type { PermissionHolder } from './permission-store.js';
import { roles } from './roles.js';

/**
 * Whoever has no account, where something is asked of a user: a guest who is in no channel and no conversation. Ids begin
 * at 1, so that nobody is it.
 */
export const spectator: PermissionHolder = { id: 0 as UserId, role: roles.guest };

import type { UserId } from '@waxwing/protocol';
import { roles } from '../../platform/authentication/roles.js';
import type { PermissionHolder } from './permission-store.js';

/**
 * The actor that stands for unauthenticated clients in permission checks: a guest without channels or conversations.
 * User ids start at 1, so no user has this id.
 */
export const spectator: PermissionHolder = { id: 0 as UserId, role: roles.guest };

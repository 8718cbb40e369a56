import { refused } from '@waxwing/protocol';
import type { KnownUser } from './credential-store.js';
import { roles } from './roles.js';

/** Checks that a user is neither a guest nor a bot. @throws ProtocolError BAD_REQUEST if not. */
export function requireMember({ role, isBot }: Pick<KnownUser, 'role' | 'isBot'>): void {
  requireNoGuest({ role });
  requireHuman({ isBot });
}

/** Checks that a user or bot is not a guest. @throws ProtocolError BAD_REQUEST for guests. */
export function requireNoGuest({ role }: Pick<KnownUser, 'role'>): void {
  if (role !== roles.guest) return;
  throw refused('Not allowed for guest users');
}

/** Checks that a user is not a bot. @throws ProtocolError BAD_REQUEST for bots. */
export function requireHuman({ isBot }: Pick<KnownUser, 'isBot'>): void {
  if (!isBot) return;
  throw refused('This endpoint does not accept bot requests.');
}

import { refused } from '@waxwing/protocol';
import type { KnownUser } from './credential-store.js';
import { roles } from './roles.js';

/** @throws ProtocolError BAD_REQUEST for guests and for bots. */
export function requireMember({ role, isBot }: Pick<KnownUser, 'role' | 'isBot'>): void {
  requireNoGuest({ role });
  requireHuman({ isBot });
}

/** @throws ProtocolError BAD_REQUEST for guests. */
export function requireNoGuest({ role }: Pick<KnownUser, 'role'>): void {
  if (role !== roles.guest) return;
  throw refused('Not allowed for guest users');
}

/** @throws ProtocolError BAD_REQUEST for bots. */
export function requireHuman({ isBot }: Pick<KnownUser, 'isBot'>): void {
  if (!isBot) return;
  throw refused('This endpoint does not accept bot requests.');
}

import { ProtocolError, refused, type UserId } from '@waxwing/protocol';
import { isRole, type Role, roles } from '../../platform/authentication/roles.js';
import { isEmailAddress, requireOwnAddress } from './email-address.js';
import { checkedFullName, fullNameTaken } from './full-name.js';
import type { UserFacts } from './user-facts.js';

/** The requested changes to a user. */
export interface UserUpdateRequest {
  readonly fullName: string | undefined;
  readonly role: number | undefined;
  readonly email: string | undefined;
}

/** The changes to apply to a user. Absent fields stay unchanged. */
export interface UserChange {
  readonly userId: UserId;
  readonly fullName?: string;
  readonly role?: Role;
  readonly email?: string;
}

/**
 * Validates an administrator's update of a user and returns only the fields that change.
 * @throws ProtocolError if the request violates a rule.
 */
export function planUserUpdate(facts: UserFacts, requested: UserUpdateRequest): UserChange {
  if (requested.email !== undefined) requireAddressChanger(facts);
  const role = planRole(facts, requested);
  const fullName = planFullName(facts, requested);
  const email = planEmail(facts, requested);
  return {
    userId: facts.target.id,
    ...(role === undefined ? {} : { role }),
    ...(fullName === undefined ? {} : { fullName }),
    ...(email === undefined ? {} : { email }),
  };
}

function requireAddressChanger({ actor }: UserFacts): void {
  if (actor.role === roles.owner && actor.mayChangeAddresses) return;
  throw refused('User not authorized to change user emails');
}

function planRole({ actor, target, isOnlyOwner }: UserFacts, { role }: UserUpdateRequest): Role | undefined {
  if (role === undefined) return undefined;
  if (!isRole(role)) throw refused('Invalid role');
  if (role === target.role) return undefined;
  if ([role, target.role].includes(roles.owner) && actor.role !== roles.owner) {
    throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message: 'Must be an organization owner' });
  }
  if (target.role === roles.guest && role <= roles.administrator) {
    throw refused('Guests cannot be organization administrators: make the user a member first.');
  }
  if (isOnlyOwner) {
    throw refused('The owner permission cannot be removed from the only organization owner.');
  }
  return role;
}

function planFullName({ target, isNameTaken }: UserFacts, requested: UserUpdateRequest): string | undefined {
  if (requested.fullName === undefined || requested.fullName.trim() === target.fullName) return undefined;
  const fullName = checkedFullName(requested.fullName);
  if (isNameTaken) throw fullNameTaken();
  return fullName;
}

function planEmail({ target, isAddressTaken }: UserFacts, requested: UserUpdateRequest): string | undefined {
  const email = requested.email?.normalize('NFC');
  if (email === undefined || email === target.email) return undefined;
  requireOwnAddress(email);
  if (!isEmailAddress(email)) throw refused('Invalid new_email: must be an e-mail address');
  if (isAddressTaken) throw refused('Invalid new_email: the address is taken');
  return email;
}

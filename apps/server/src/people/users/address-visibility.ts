import { domainToASCII } from 'node:url';
import type { UserId } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import type { KnownUser } from '../../platform/authentication/credential-store.js';
import { type Role, roles } from '../../platform/authentication/roles.js';

/** Who can read a user's real email address, with the numeric values of the chat API. */
export const addressVisibility = {
  everyone: 1,
  members: 2,
  administrators: 3,
  nobody: 4,
  moderators: 5,
} as const;

export type AddressVisibility = (typeof addressVisibility)[keyof typeof addressVisibility];

/**
 * The reader of user data. `undefined` is a spectator: an unauthenticated client of an organization with public access.
 */
export type Reader = Pick<KnownUser, 'id' | 'role'> | undefined;

/** The user fields that decide who can read the address. */
export interface AddressOwner {
  readonly id: UserId;
  readonly email: string;
  readonly isBot: boolean;
  readonly visibility: AddressVisibility;
}

/** The least privileged role that can read the address; `undefined` if no role can. */
const neededRole: Readonly<Record<AddressVisibility, Role | undefined>> = {
  [addressVisibility.everyone]: roles.guest,
  [addressVisibility.members]: roles.member,
  [addressVisibility.moderators]: roles.moderator,
  [addressVisibility.administrators]: roles.administrator,
  [addressVisibility.nobody]: undefined,
};

/** Returns the visibility values that let a reader with this role see the address. */
export function visibilitiesFor(role: Role): AddressVisibility[] {
  return Object.values(addressVisibility).filter((visibility) => {
    const needed = neededRole[visibility];
    return needed !== undefined && role <= needed;
  });
}

/** Returns whether a reader can see the real address. Users see their own address; spectators see no addresses. */
export function readsAddress(reader: Reader, owner: AddressOwner): boolean {
  if (reader === undefined) return false;
  if (reader.id === owner.id) return true;
  const needed = neededRole[effectiveVisibility(owner)];
  return needed !== undefined && reader.role <= needed;
}

/**
 * Returns the address in a user's record. It is the same for every reader: the real address if it is public,
 * otherwise the dummy address `user<id>@<realm_host>`.
 */
export function shownAddress(owner: AddressOwner, realm: Pick<PushRealm, 'url'>): string {
  if (effectiveVisibility(owner) === addressVisibility.everyone) return owner.email;
  return `user${owner.id}@${addressHost(realm)}`;
}

/** Returns the user id in a dummy address, or `undefined` for any other address. */
export function idOfDummyAddress(address: string, realm: Pick<PushRealm, 'url'>): UserId | undefined {
  const [, digits, host] = /^user(\d{1,15})@(.+)$/i.exec(address) ?? [];
  if (host === undefined || domainToASCII(host) !== addressHost(realm)) return undefined;
  return Number(digits) as UserId;
}

/** Returns whether every user can see the real address. Always true for bots. */
export function isPublicAddress(owner: Pick<AddressOwner, 'isBot' | 'visibility'>): boolean {
  return effectiveVisibility(owner) === addressVisibility.everyone;
}

function effectiveVisibility({ isBot, visibility }: Pick<AddressOwner, 'isBot' | 'visibility'>) {
  return isBot ? addressVisibility.everyone : visibility;
}

/** Caches the host of the last URL. There is usually only one URL, and parsing it for every message is slow. */
let lastHost = { url: '', host: '' };

/**
 * Returns the host of dummy addresses: the organization's host. Falls back to `hidden.invalid` if that host has a
 * port, is an IP address, or has a single label.
 */
function addressHost({ url }: Pick<PushRealm, 'url'>): string {
  if (lastHost.url !== url) lastHost = { url, host: hostOf(url) };
  return lastHost.host;
}

function hostOf(url: string): string {
  const { host } = new URL(url);
  return /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(host) ? host : 'hidden.invalid';
}

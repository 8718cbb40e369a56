import type { UserId } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import type { KnownUser } from '../authentication/credential-store.js';
import { type Role, roles } from '../permissions/roles.js';

/** Who reads somebody's real address: the numbers of the chat API. */
export const addressVisibility = {
  everyone: 1,
  members: 2,
  administrators: 3,
  nobody: 4,
  moderators: 5,
} as const;

export type AddressVisibility = (typeof addressVisibility)[keyof typeof addressVisibility];

/** Whoever reads of users: somebody with an account, or, where the organisation lets them, somebody without one. */
export type Reader = Pick<KnownUser, 'id' | 'role'> | undefined;

/** What says who reads an address. */
export interface AddressOwner {
  readonly id: UserId;
  readonly email: string;
  readonly isBot: boolean;
  readonly visibility: AddressVisibility;
}

/** The role that is needed at least. */
const neededRole: Readonly<Record<AddressVisibility, Role | undefined>> = {
  [addressVisibility.everyone]: roles.guest,
  [addressVisibility.members]: roles.member,
  [addressVisibility.moderators]: roles.moderator,
  [addressVisibility.administrators]: roles.administrator,
  [addressVisibility.nobody]: undefined,
};

/** Whose addresses somebody of this role reads. */
export function visibilitiesFor(role: Role): AddressVisibility[] {
  return Object.values(addressVisibility).filter((visibility) => {
    const needed = neededRole[visibility];
    return needed !== undefined && role <= needed;
  });
}

/** Whether a reader may know the real address; everybody knows its own, and whoever has no account none. */
export function readsAddress(reader: Reader, owner: AddressOwner): boolean {
  if (reader === undefined) return false;
  if (reader.id === owner.id) return true;
  const needed = neededRole[effectiveVisibility(owner)];
  return needed !== undefined && reader.role <= needed;
}

/** The address that stands for somebody, the same for every reader: the real one where everyone may know it. */
export function shownAddress(owner: AddressOwner, realm: Pick<PushRealm, 'url'>): string {
  if (effectiveVisibility(owner) === addressVisibility.everyone) return owner.email;
  return `user${owner.id}@${addressHost(realm)}`;
}

/** Whose address it is that has the form of those which stand for hidden ones; `undefined` for any other. */
export function idOfDummyAddress(address: string, realm: Pick<PushRealm, 'url'>): UserId | undefined {
  const [, digits, host] = /^user(\d{1,15})@(.+)$/i.exec(address) ?? [];
  if (host?.toLowerCase() !== addressHost(realm)) return undefined;
  return Number(digits) as UserId;
}

/** Whether everyone may know the address. */
export function isPublicAddress(owner: Pick<AddressOwner, 'isBot' | 'visibility'>): boolean {
  return effectiveVisibility(owner) === addressVisibility.everyone;
}

function effectiveVisibility({ isBot, visibility }: Pick<AddressOwner, 'isBot' | 'visibility'>) {
  return isBot ? addressVisibility.everyone : visibility;
}

/** What was found for the last address, which is mostly the only one: to parse it for every message takes long. */
let lastHost = { url: '', host: '' };

/** The organisation's host, or one that nobody can have where that makes no address: a port, a number, a single name. */
function addressHost({ url }: Pick<PushRealm, 'url'>): string {
  if (lastHost.url !== url) lastHost = { url, host: hostOf(url) };
  return lastHost.host;
}

function hostOf(url: string): string {
  const { host } = new URL(url);
  return /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(host) ? host : 'hidden.invalid';
}

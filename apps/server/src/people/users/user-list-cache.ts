import { EncodedJson } from '@waxwing/service/http';
import { LRUCache } from 'lru-cache';
import type { Role } from '../../platform/authentication/roles.js';
import type { AddressVisibility } from './address-visibility.js';
import { visibilitiesFor } from './address-visibility.js';
import type { ListedUser } from './listed-user.js';

/** Encoded users, ordered by id. Joined with commas, the chunks are the elements of a JSON array. */
export interface EncodedUsers {
  readonly chunks: readonly { readonly lastId: number; readonly json: Uint8Array }[];
}

/** The encoded records of all users, for one kind of reader. */
export interface EncodedUserList {
  readonly active: EncodedUsers;
  readonly inactive: EncodedUsers;
}

/** A kind of reader. Readers of one kind get the same records, except their own. */
export interface ReaderKind {
  /** `undefined` for spectators. */
  readonly role: Role | undefined;
  readonly makesAvatars: boolean;
}

/** Maximum size of the cache. Enough for two lists of about 80,000 users each. */
const defaultMaximumBytes = 64 * 1024 * 1024;

/**
 * Caches the encoded records of all users, by the realm's `users_version` and the kind of reader. The version is read
 * in the same snapshot as the list, so a change by any process takes effect immediately. Keeps only the lists of one
 * version.
 */
export class UserListCache {
  readonly #lists: LRUCache<string, EncodedUserList>;
  #version = '';
  /**
   * The address visibilities that occur in this version. Roles that can see the same of these visibilities share a
   * list.
   */
  #visibilities: ReadonlySet<AddressVisibility> = new Set();

  constructor(maximumBytes = defaultMaximumBytes) {
    this.#lists = new LRUCache({ maxSize: maximumBytes, sizeCalculation: sizeOf });
  }

  get(version: string, kind: ReaderKind): EncodedUserList | undefined {
    return version === this.#version ? this.#lists.get(this.#keyOf(kind)) : undefined;
  }

  /** @param visibilities the address visibilities of the users */
  set(
    version: string,
    kind: ReaderKind,
    { list, visibilities }: { list: EncodedUserList; visibilities: ReadonlySet<AddressVisibility> },
  ): void {
    if (version !== this.#version) this.#lists.clear();
    this.#version = version;
    this.#visibilities = visibilities;
    this.#lists.set(this.#keyOf(kind), list);
  }

  #keyOf({ role, makesAvatars }: ReaderKind): string {
    const readable = role && visibilitiesFor(role).filter((visibility) => this.#visibilities.has(visibility));
    return JSON.stringify([readable ?? 'spectator', makesAvatars]);
  }
}

/**
 * Joins the chunks into a JSON array. `own` replaces the reader's own record if it differs from the record that others
 * see.
 */
export function joinUsers({ chunks }: EncodedUsers, own?: ListedUser): EncodedJson<ListedUser[]> {
  const ownChunk = own && chunks.find(({ lastId }) => lastId >= own.user_id);
  const joined: Uint8Array[] = [];
  for (const chunk of chunks) {
    joined.push(joined.length === 0 ? opening : comma);
    joined.push(own !== undefined && chunk === ownChunk ? replaceUser(chunk.json, own) : chunk.json);
  }
  if (joined.length === 0) joined.push(opening);
  return new EncodedJson([...joined, closing]);
}

const [opening, comma, closing] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
];

function replaceUser(json: Uint8Array, own: ListedUser): Buffer {
  const users = JSON.parse(`[${Buffer.from(json.buffer, json.byteOffset, json.byteLength)}]`) as ListedUser[];
  return entriesOf(users.map((user) => (user.user_id === own.user_id ? own : user)));
}

/** Encodes users as the elements of a JSON array, without the brackets. */
export function entriesOf(users: readonly ListedUser[]): Buffer {
  return Buffer.from(JSON.stringify(users)).subarray(1, -1);
}

function sizeOf({ active, inactive }: EncodedUserList): number {
  const chunks = [...active.chunks, ...inactive.chunks];
  // Starts at 1, because the cache rejects entries of size 0.
  return chunks.reduce((sum, { json }) => sum + json.byteLength, 1);
}

import type { ChannelId, UserId } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import { fixedQuery, isAmong, isAmongListed, listText } from '@waxwing/storage';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import { spectator } from '../../../people/permissions/spectator.js';
import {
  type AddressVisibility,
  idOfDummyAddress,
  readsAddress,
} from '../../../people/users/address-visibility.js';
import { readVisibilityOf } from '../../../people/users/user-visibility.js';
import { type Role, roles } from '../../../platform/authentication/roles.js';
import { addressKey } from '../../../platform/names/address-key.js';
import type { ServerTables } from '../../../tables.js';
import { readableChannels } from '../message-access.js';
import { badNarrow, type NarrowOperand, type NarrowTerm, operatorOf } from './narrow-terms.js';

type Db = Kysely<ServerTables>;

/** A channel that a narrow refers to. */
interface NamedChannel {
  readonly id: ChannelId;
  /** Whether all readers of the channel may read all of its messages. */
  readonly isHistoryPublic: boolean;
}

/** Looks up the channels and users that a narrow refers to, if the reader can see them. */
export interface NarrowNames {
  /**
   * Returns the channel.
   * @throws ProtocolError BAD_NARROW if the channel does not exist or the reader may not read it.
   */
  channel(operand: NarrowOperand): NamedChannel;
  /**
   * Returns the users' ids.
   * @throws ProtocolError BAD_NARROW if one of the users does not exist or the reader cannot see them.
   */
  userIds(operand: NarrowOperand): UserId[];
}

/** Reads all channels and users that a narrow refers to, in a constant number of statements. */
export async function readNarrowNames(
  db: Db,
  realm: Pick<PushRealm, 'url'>,
  reader: PermissionHolder,
  terms: readonly NarrowTerm[],
): Promise<NarrowNames> {
  const operands = (...operators: string[]) =>
    terms.filter((term) => operators.includes(operatorOf(term))).map(({ operand }) => operand);
  const channels = await readChannels(db, reader, operands('channel'));
  const idOf = (name: string | number) =>
    typeof name === 'number' ? name : (idOfDummyAddress(name, realm) ?? asId(name));
  const named = operands('sender', 'mentions', 'dm', 'dm-including').flatMap(listed);
  const users = await readUsers(db, reader, { names: named, ids: named.flatMap((name) => idOf(name) ?? []) });
  const userId = (name: string | number): UserId => {
    const named = idOf(name);
    const id = named === undefined ? users.byAddress.get(addressKey(String(name))) : users.byId.get(named);
    if (id === undefined) throw badNarrow(`unknown user in ${String(name)}`);
    return id;
  };
  return {
    channel(operand) {
      const channel = channels.get(channelKey(operand));
      if (channel === undefined) throw badNarrow('unknown channel');
      return channel;
    },
    userIds: (operand) => [...new Set(listed(operand).map(userId))],
  };
}

/** Splits an operand: a list, a single name, or comma-separated addresses. */
function listed(operand: NarrowOperand): (string | number)[] {
  if (typeof operand !== 'string') return Array.isArray(operand) ? [...operand] : [operand as number];
  return operand
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function asId(name: string): number | undefined {
  return /^\d{1,15}$/.test(name) ? Number(name) : undefined;
}

function channelKey(operand: NarrowOperand): string {
  return String(operand).toLowerCase();
}

/** Reads channels by name or id. A name takes precedence over an id. */
async function readChannels(
  db: Db,
  reader: PermissionHolder,
  operands: readonly NarrowOperand[],
): Promise<ReadonlyMap<string, NamedChannel>> {
  if (operands.length === 0) return new Map();
  const names = operands.map(channelKey);
  const ids = names.flatMap((name) => asId(name) ?? []);
  const named = reader.role === roles.guest ? namedForGuest : namedForMember;
  const rows = await named(db, {
    readerId: reader.id,
    names: listText(db, names),
    ids: listText(db, ids),
  });
  const strings = new Set(operands.filter((operand) => typeof operand === 'string').map(channelKey));
  const channels = rows.map(({ id, name_lower, is_history_public }) => ({
    name: name_lower,
    channel: { id, isHistoryPublic: is_history_public === 1 },
  }));
  return new Map([
    ...channels.map(({ channel }): [string, NamedChannel] => [String(channel.id), channel]),
    ...channels.flatMap(({ name, channel }): [string, NamedChannel][] =>
      strings.has(name) ? [[name, channel]] : [],
    ),
  ]);
}

interface NamedChannels {
  readonly readerId: UserId;
  /** `names` and `ids` are results of `listText`. */
  readonly names: string;
  readonly ids: string;
}

type ChannelRow = Pick<Selectable<ServerTables['channels']>, 'id' | 'name_lower' | 'is_history_public'>;

const namedForGuest = namedFor(roles.guest);
const namedForMember = namedFor(roles.member);

/** Returns a query for the channels with these names or ids that a user of this role may read. */
function namedFor(role: Role) {
  return fixedQuery<ServerTables, NamedChannels, ChannelRow>((db, parameter) => {
    const isWanted = sql<boolean>`(
      ${isAmongListed(db, 'channels.id', 'integer', parameter('ids'))}
      or ${isAmongListed(db, 'channels.name_lower', 'text', parameter('names'))}
    )`;
    return db
      .selectFrom('channels')
      .select(['id', 'name_lower', 'is_history_public'])
      .where(isWanted)
      .where(
        'id',
        'in',
        sql<ChannelId>`(${readableChannels({ id: parameter('readerId'), role }, isWanted)})`,
      );
  });
}

async function readUsers(
  db: Db,
  reader: PermissionHolder,
  { names, ids }: { readonly names: readonly (string | number)[]; readonly ids: readonly number[] },
) {
  const byId = new Map<number, UserId>();
  const byAddress = new Map<string, UserId>();
  if (names.length === 0) return { byId, byAddress };
  const addresses = names.map((name) => addressKey(String(name)));
  const rows = await db
    .selectFrom('users')
    .select(['id', 'email_lower', 'is_bot', 'email_address_visibility'])
    .where((is) => is.or([isAmong(db, 'id', 'integer', ids), isAmong(db, 'email_lower', 'text', addresses)]))
    .orderBy('is_active')
    .orderBy('id')
    .execute();
  const asker = reader.id === spectator.id ? undefined : reader;
  const found = rows.map(({ id }) => id);
  const sees = await readVisibilityOf(db, asker, found);
  for (const { id, email_lower, is_bot, email_address_visibility } of rows) {
    if (!sees({ id, isBot: is_bot === 1 })) continue;
    byId.set(id, id);
    const visibility = email_address_visibility as AddressVisibility;
    if (readsAddress(asker, { id, email: email_lower, isBot: is_bot === 1, visibility }))
      byAddress.set(email_lower, id);
  }
  return { byId, byAddress };
}

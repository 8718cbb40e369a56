import type { TokenKind } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import { matchingRows, type RowFilter, readPages } from '@waxwing/storage';
import { type Selectable, sql } from 'kysely';
import type { RelayDatabase, RelayTables } from '../tables.js';
import { type DeviceCounts, generationOfDevice, noDevices } from './device-counts.js';
import { hourOf } from './server-activity-store.js';
import { type ServerState, stateOf } from './server-state.js';

/** The data about a server that `servers list` and `servers show` print. Times in Unix milliseconds. */
export interface ServerSummary {
  readonly serverId: string;
  readonly name: string;
  readonly state: ServerState;
  readonly hostname: string | undefined;
  readonly contactEmail: string | undefined;
  readonly createdAt: number;
  readonly suspendedAt: number | undefined;
  readonly deactivatedAt: number | undefined;
  readonly lastSeenAt: number | undefined;
  readonly realmUuids: readonly string[];
  readonly devices: DeviceCounts;
  /** Notifications in the last 24 hours, by outcome. */
  readonly lastDay: { readonly sent: number; readonly gone: number; readonly rejected: number };
  /** Share of the quota in use; 1 if it is used up. */
  readonly quotaUsed: number;
}

/** Filter for the listed servers. The text is matched against id, name, hostname and contact. */
export interface ServerFilter extends RowFilter {
  /** Lists only servers that were created after this server. */
  readonly after?: { readonly at: number; readonly id: string } | undefined;
}

const serversPerPage = 250;

/** Yields pages of the matching servers, oldest first. */
export async function* summarizeServers(
  { db }: RelayDatabase,
  now: number,
  { after, ...filter }: ServerFilter = {},
): AsyncGenerator<ServerSummary[]> {
  const start = after && { created_at: after.at, id: after.id };
  const pages = readPages<ServerRow>(serversPerPage, (last) => pageAfter(db, last ?? start));
  const found = matchingRows(pages, filter, ({ id, name, hostname, contact_email }) => {
    return [id, name, hostname, contact_email];
  });
  for await (const servers of found) yield await summariesOf(db, now, servers);
}

/** @throws CommandError if there is no such server. */
export async function summarizeServer(
  { db }: RelayDatabase,
  now: number,
  serverId: string,
): Promise<ServerSummary> {
  const found = await db.selectFrom('servers').selectAll().where('id', '=', serverId).execute();
  const [summary] = await summariesOf(db, now, found);
  if (summary === undefined) throw unknownServer(serverId);
  return summary;
}

type Reader = RelayDatabase['db'];
type ServerRow = Selectable<RelayTables['servers']>;
type ServerPosition = Pick<ServerRow, 'created_at' | 'id'>;

function pageAfter(db: Reader, last: ServerPosition | undefined): Promise<ServerRow[]> {
  return db
    .selectFrom('servers')
    .selectAll()
    .$if(last !== undefined, (all) =>
      all.where(sql<boolean>`(created_at, id) > (${last?.created_at}, ${last?.id})`),
    )
    .orderBy('created_at')
    .orderBy('id')
    .limit(serversPerPage)
    .execute();
}

async function summariesOf(db: Reader, now: number, servers: readonly ServerRow[]): Promise<ServerSummary[]> {
  if (servers.length === 0) return [];
  const ids = servers.map(({ id }) => id);
  const [realms, devices, activity, quotas] = await Promise.all([
    realmsOf(db, ids),
    devicesOf(db, ids),
    activityOf(db, ids, now),
    quotasOf(db, ids, now),
  ]);
  return servers.map((server) => ({
    serverId: server.id,
    name: server.name,
    state: stateOf(server),
    hostname: server.hostname ?? undefined,
    contactEmail: server.contact_email ?? undefined,
    createdAt: server.created_at,
    suspendedAt: server.suspended_at ?? undefined,
    deactivatedAt: server.deactivated_at ?? undefined,
    lastSeenAt: activity.get(server.id)?.lastSeenAt || undefined,
    realmUuids: realms.get(server.id) ?? [],
    devices: devices.get(server.id) ?? noDevices(),
    lastDay: activity.get(server.id)?.lastDay ?? { sent: 0, gone: 0, rejected: 0 },
    quotaUsed: quotas.get(server.id) ?? 0,
  }));
}

export function unknownServer(serverId: string): CommandError {
  return new CommandError(`There is no server ${serverId}: "servers list" shows all.`);
}

type Ids = readonly string[];

async function realmsOf(db: Reader, ids: Ids): Promise<Map<string, string[]>> {
  const rows = await db
    .selectFrom('realms')
    .select(['realms.uuid', 'realms.server_id'])
    .where('realms.server_id', 'in', ids)
    .orderBy('realms.id')
    .execute();
  const realms = new Map<string, string[]>();
  for (const { uuid, server_id } of rows) realms.set(server_id, [...(realms.get(server_id) ?? []), uuid]);
  return realms;
}

async function devicesOf(db: Reader, ids: Ids): Promise<Map<string, DeviceCounts>> {
  const rows = await db
    .selectFrom('relay_devices')
    .innerJoin('realms', 'realms.id', 'relay_devices.realm_id')
    .select(({ fn }) => [
      'realms.server_id',
      'relay_devices.token_kind',
      generationOfDevice.as('generation'),
      fn.countAll<number | string>().as('count'),
    ])
    .where('realms.server_id', 'in', ids)
    .where('relay_devices.expired_at', 'is', null)
    .groupBy(['realms.server_id', 'relay_devices.token_kind', 'generation'])
    .execute();
  const devices = new Map<string, DeviceCounts>();
  for (const { server_id, token_kind, generation, count } of rows) {
    const counts = devices.get(server_id) ?? noDevices();
    // Skips unknown kinds, which a later version may have stored.
    if (Object.hasOwn(counts[generation], token_kind)) {
      counts[generation][token_kind as TokenKind] += Number(count);
    }
    devices.set(server_id, counts);
  }
  return devices;
}

type Activity = Pick<ServerSummary, 'lastDay' | 'lastSeenAt'>;

async function activityOf(db: Reader, ids: Ids, now: number): Promise<Map<string, Activity>> {
  const isRecent = sql`case when hour > ${hourOf(now) - 24} then 1 else 0 end`;
  const rows = await db
    .selectFrom('server_activity')
    .select(({ fn }) => [
      'server_id',
      sql<number | string>`sum(sent * ${isRecent})`.as('sent'),
      sql<number | string>`sum(gone * ${isRecent})`.as('gone'),
      sql<number | string>`sum(rejected * ${isRecent})`.as('rejected'),
      fn.max('last_seen_at').as('last_seen_at'),
    ])
    .where('server_id', 'in', ids)
    .groupBy('server_id')
    .execute();
  return new Map(
    rows.map(({ server_id, sent, gone, rejected, last_seen_at }) => [
      server_id,
      {
        lastDay: { sent: Number(sent), gone: Number(gone), rejected: Number(rejected) },
        lastSeenAt: Number(last_seen_at),
      },
    ]),
  );
}

async function quotasOf(db: Reader, ids: Ids, now: number): Promise<Map<string, number>> {
  const minuteMilliseconds = 60_000;
  const rows = await db.selectFrom('server_quotas').selectAll().where('server_id', 'in', ids).execute();
  return new Map(
    rows.map(({ server_id, used_milliseconds, counted_at }) => {
      const used = used_milliseconds - Math.max(0, now - counted_at);
      return [server_id, Math.min(1, Math.max(0, used) / minuteMilliseconds)];
    }),
  );
}

import { CommandError } from '@waxwing/service/command-line';
import { sql } from 'kysely';
import type { RelayDatabase } from '../tables.js';
import { type DeviceCounts, generationOfDevice, noDevices } from './device-counts.js';
import { hourOf } from './server-activity-store.js';
import { type ServerState, stateOf } from './server-state.js';

/** A server as `servers list` and `servers show` print it. Instants in Unix milliseconds. */
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
  /** Notifications of the last 24 hours by their outcome. */
  readonly lastDay: { readonly sent: number; readonly gone: number; readonly rejected: number };
  /** Share of the quota in use, 1 if it is used up. */
  readonly quotaUsed: number;
}

/** Lists all servers, oldest first, or the one with this id. @throws CommandError if there is none with it. */
export async function summarizeServers(
  { db }: RelayDatabase,
  now: number,
  serverId?: string,
): Promise<ServerSummary[]> {
  const ofServer = serverId === undefined ? sql<boolean>`true` : sql<boolean>`servers.id = ${serverId}`;
  const servers = await db
    .selectFrom('servers')
    .selectAll()
    .where(ofServer)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  if (serverId !== undefined && servers.length === 0) throw unknownServer(serverId);
  const [realms, devices, activity, quotas] = await Promise.all([
    realmsOf(db, ofServer),
    devicesOf(db, ofServer),
    activityOf(db, now),
    quotasOf(db, now),
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
  return new CommandError(`There is no server ${serverId}: "servers list" shows those that there are.`);
}

type Reader = RelayDatabase['db'];
type Condition = ReturnType<typeof sql<boolean>>;

async function realmsOf(db: Reader, ofServer: Condition): Promise<Map<string, string[]>> {
  const rows = await db
    .selectFrom('realms')
    .innerJoin('servers', 'servers.id', 'realms.server_id')
    .select(['realms.uuid', 'realms.server_id'])
    .where(ofServer)
    .orderBy('realms.id')
    .execute();
  const realms = new Map<string, string[]>();
  for (const { uuid, server_id } of rows) realms.set(server_id, [...(realms.get(server_id) ?? []), uuid]);
  return realms;
}

async function devicesOf(db: Reader, ofServer: Condition): Promise<Map<string, DeviceCounts>> {
  const rows = await db
    .selectFrom('relay_devices')
    .innerJoin('realms', 'realms.id', 'relay_devices.realm_id')
    .innerJoin('servers', 'servers.id', 'realms.server_id')
    .select(({ fn }) => [
      'realms.server_id',
      'relay_devices.token_kind',
      generationOfDevice.as('generation'),
      fn.countAll<number | string>().as('count'),
    ])
    .where(ofServer)
    .where('relay_devices.expired_at', 'is', null)
    .groupBy(['realms.server_id', 'relay_devices.token_kind', 'generation'])
    .execute();
  const devices = new Map<string, DeviceCounts>();
  for (const { server_id, token_kind, generation, count } of rows) {
    const counts = devices.get(server_id) ?? noDevices();
    counts[generation][token_kind === 'apns' ? 'apns' : 'fcm'] += Number(count);
    devices.set(server_id, counts);
  }
  return devices;
}

type Activity = Pick<ServerSummary, 'lastDay' | 'lastSeenAt'>;

async function activityOf(db: Reader, now: number): Promise<Map<string, Activity>> {
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

async function quotasOf(db: Reader, now: number): Promise<Map<string, number>> {
  const minuteMilliseconds = 60_000;
  const rows = await db.selectFrom('server_quotas').selectAll().execute();
  return new Map(
    rows.map(({ server_id, used_milliseconds, counted_at }) => {
      const used = used_milliseconds - Math.max(0, now - counted_at);
      return [server_id, Math.min(1, Math.max(0, used) / minuteMilliseconds)];
    }),
  );
}

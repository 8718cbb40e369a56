import type { TokenKind } from '@waxwing/protocol';
import {
  formatColumns,
  type ListFlags,
  type OutputFlags,
  printListing,
  printResult,
  type TableRow,
  type Terminal,
  withJson,
  withListing,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { withRelayDatabase } from '../with-database.js';
import { readUuid } from './read-uuid.js';
import type { ServerSummary } from './server-summaries.js';
import { totalOf } from './total-of-devices.js';

/** Lazy import, so that `--help` stays fast. */
const summaries = () => import('./server-summaries.js');

/** Adds `servers list` and `servers show`. */
export function addShowing(servers: Command, terminal: Terminal): void {
  withListing(servers.command('list'), { searched: 'id, name, hostname or contact' })
    .description('show all servers, their realms, devices and deliveries')
    .action(async (text: string | undefined, flags: ListFlags) => {
      const { summarizeServers } = await summaries();
      await withRelayDatabase(terminal, (database) =>
        printListing(terminal, flags, {
          name: 'servers',
          pages: summarizeServers(database, terminal.clock(), { text, limit: flags.limit }),
          machines: formatForMachines,
          head: ['server id', 'name', 'state', 'last seen', 'devices', 'sent / rejected, 24 h', 'realms'],
          people: formatRow,
          none:
            text === undefined
              ? 'There are no servers yet: let one join with "servers invite", or add it with "servers add".'
              : `No server has "${text}" in its id, name, hostname or contact.`,
        }),
      );
    });
  withJson(servers.command('show'))
    .description('show everything that the relay knows about a server')
    .argument('<server-id>', 'the server', readUuid)
    .action(async (serverId: string, flags: OutputFlags) => {
      const { summarizeServer } = await summaries();
      const summary = await withRelayDatabase(terminal, (database) =>
        summarizeServer(database, terminal.clock(), serverId),
      );
      printResult(terminal, flags, { machines: formatForMachines(summary), people: formatServer(summary) });
    });
}

function formatForMachines(summary: ServerSummary): object {
  return {
    server_id: summary.serverId,
    name: summary.name,
    state: summary.state,
    hostname: summary.hostname ?? null,
    contact_email: summary.contactEmail ?? null,
    created_at: new Date(summary.createdAt).toISOString(),
    suspended_at: instant(summary.suspendedAt) ?? null,
    deactivated_at: instant(summary.deactivatedAt) ?? null,
    last_seen_at: instant(summary.lastSeenAt) ?? null,
    realms: summary.realmUuids,
    devices: summary.devices,
    last_day: summary.lastDay,
    quota_used: summary.quotaUsed,
  };
}

function formatRow(summary: ServerSummary): TableRow {
  return [
    summary.serverId,
    summary.name,
    summary.state,
    minuteOf(summary.lastSeenAt),
    totalOf(summary.devices),
    `${summary.lastDay.sent} / ${summary.lastDay.rejected}`,
    summary.realmUuids.join('\n'),
  ];
}

function formatServer(summary: ServerSummary): string {
  const { devices, lastDay } = summary;
  const since = summary.suspendedAt ?? summary.deactivatedAt;
  return formatColumns([
    ['server id', summary.serverId],
    ['name', summary.name],
    ['state', since === undefined ? summary.state : `${summary.state} since ${minuteOf(since)}`],
    ['hostname', summary.hostname ?? 'never reported'],
    ['contact', summary.contactEmail ?? 'never reported'],
    ['added', minuteOf(summary.createdAt)],
    ['last seen', minuteOf(summary.lastSeenAt)],
    ['older devices', formatKinds(devices.v1)],
    ['newer devices', formatKinds(devices.v2)],
    ['without encryption', formatKinds(devices.plaintext)],
    ['last 24 hours', `${lastDay.sent} sent, ${lastDay.rejected} rejected, ${lastDay.gone} for dead tokens`],
    ['quota in use', `${Math.round(summary.quotaUsed * 100)} %`],
    ...summary.realmUuids.map((uuid, index) => [index === 0 ? 'realms' : '', uuid]),
  ]);
}

function formatKinds({ fcm, apns, webpush }: Record<TokenKind, number>): string {
  return `${fcm} FCM, ${apns} APNs, ${webpush} Web Push`;
}

function instant(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
}

function minuteOf(milliseconds: number | undefined): string {
  return instant(milliseconds)?.slice(0, 16).replace('T', ' ') ?? 'never';
}

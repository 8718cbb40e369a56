import {
  type ConsentFlags,
  formatTable,
  type OutputFlags,
  printListing,
  printResult,
  requireConsent,
  type Terminal,
  withJson,
  withYes,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { withRelayDatabase } from '../with-database.js';
import { addInviting } from './joining/invite-command.js';
import type { ServerCredentials, ServerSummary } from './manage-servers.js';
import { readUuid } from './read-uuid.js';

/** Lazy import: `--help` must not wait for it. */
const manage = () => import('./manage-servers.js');

interface RealmFlags extends OutputFlags {
  readonly realm: readonly string[];
}
interface AddFlags extends RealmFlags {
  readonly name: string;
  readonly serverId?: string;
}

/** Adds the `servers` commands, which manage the servers that may use the relay and their realms. */
export function addServerCommands(servers: Command, terminal: Terminal): void {
  addInviting(servers, terminal);
  addAdding(servers, terminal);
  addListing(servers, terminal);
  addRotating(servers, terminal);
  addDeactivating(servers, terminal);
}

function addAdding(servers: Command, terminal: Terminal): void {
  withJson(servers.command('add'))
    .description('let a server use the relay; prints its id and, this once, its key')
    .requiredOption('--realm <uuid>', 'a realm (organization) of the server; repeatable', collectUuids)
    .option('--name <text>', 'what you call the server', '')
    .option(
      '--server-id <uuid>',
      'the id that the server has already; a new one where it is left out',
      readUuid,
    )
    .action(async ({ realm: realmUuids, name, serverId, json }: AddFlags) => {
      const added = await withRelayDatabase(terminal, async (database) =>
        (await manage()).addServer(database, { serverId, name, realmUuids }, terminal.clock()),
      );
      printCredentials(terminal, { ...added, realmUuids }, { json });
    });
  withJson(servers.command('add-realm'))
    .description('give a server one more realm')
    .argument('<server-id>', 'the server', readUuid)
    .requiredOption('--realm <uuid>', 'the realm (organization); repeatable', collectUuids)
    .action(async (serverId: string, { realm: realmUuids, json }: RealmFlags) => {
      await withRelayDatabase(terminal, async (database) =>
        (await manage()).addRealms(database, serverId, realmUuids, terminal.clock()),
      );
      printResult(
        terminal,
        { json },
        {
          machines: { server_id: serverId, realms: realmUuids },
          people: `The server ${serverId} may now use the relay for ${realmUuids.join(', ')}.`,
        },
      );
    });
}

function addListing(servers: Command, terminal: Terminal): void {
  withJson(servers.command('list'))
    .description('show all servers and their realms')
    .action(async ({ json }: OutputFlags) => {
      const summaries = await withRelayDatabase(terminal, (await manage()).listServers);
      await printListing(
        terminal,
        { json },
        {
          machines: () => ({ servers: summaries.map(formatForMachines) }),
          people: () =>
            summaries.length === 0
              ? 'There are no servers yet: add one with "servers add".'
              : formatServers(terminal, summaries),
        },
      );
    });
}

function addRotating(servers: Command, terminal: Terminal): void {
  withYes(withJson(servers.command('rotate-key')))
    .description('give a server a new key, printed this once; the old one stops working')
    .argument('<server-id>', 'the server', readUuid)
    .action(async (serverId: string, { json, yes }: ConsentFlags) => {
      const rotated = await withRelayDatabase(terminal, async (database) => {
        const { requireServer, rotateServerKey } = await manage();
        await requireServer(database.db, serverId);
        const question = `The server ${serverId} is refused until it has the new key. Go on?`;
        await requireConsent(terminal, question, yes);
        return rotateServerKey(database, serverId);
      });
      printCredentials(terminal, rotated, { json });
    });
}

function addDeactivating(servers: Command, terminal: Terminal): void {
  withYes(withJson(servers.command('deactivate')))
    .description('refuse everything from a server; its realms and devices are kept')
    .argument('<server-id>', 'the server', readUuid)
    .action(async (serverId: string, { json, yes }: ConsentFlags) => {
      const changed = await withRelayDatabase(terminal, async (database) => {
        const { requireServer, setServerDeactivated } = await manage();
        await requireServer(database.db, serverId);
        await requireConsent(
          terminal,
          `No user of the server ${serverId} gets notifications any more. Go on?`,
          yes,
        );
        return setServerDeactivated(database, serverId, terminal.clock());
      });
      printResult(
        terminal,
        { json },
        {
          machines: { server_id: serverId, state: 'deactivated', changed },
          people: `The server ${serverId} is deactivated; "servers reactivate" undoes that.`,
        },
      );
    });
  withJson(servers.command('reactivate'))
    .description('let a deactivated server in again, with the key that it had')
    .argument('<server-id>', 'the server', readUuid)
    .action(async (serverId: string, { json }: OutputFlags) => {
      const changed = await withRelayDatabase(terminal, async (database) =>
        (await manage()).setServerDeactivated(database, serverId, undefined),
      );
      printResult(
        terminal,
        { json },
        {
          machines: { server_id: serverId, state: 'active', changed },
          people: `The server ${serverId} is active.`,
        },
      );
    });
}

function printCredentials(
  terminal: Terminal,
  { serverId, serverKey, realmUuids }: ServerCredentials & { readonly realmUuids?: readonly string[] },
  flags: OutputFlags,
): void {
  const key = serverKey.reveal();
  printResult(terminal, flags, {
    machines: { server_id: serverId, server_key: key, realms: realmUuids },
    people: [
      `server id   ${serverId}`,
      `server key  ${key}`,
      '',
      'Keep the key now: only its hash is stored, so it cannot be shown again.',
    ].join('\n'),
  });
}

function formatForMachines({ serverId, name, createdAt, deactivatedAt, realmUuids }: ServerSummary): object {
  return {
    server_id: serverId,
    name,
    state: deactivatedAt === undefined ? 'active' : 'deactivated',
    created_at: new Date(createdAt).toISOString(),
    deactivated_at: deactivatedAt === undefined ? null : new Date(deactivatedAt).toISOString(),
    realms: realmUuids,
  };
}

function formatServers(terminal: Terminal, summaries: readonly ServerSummary[]): Promise<string> {
  const rows = summaries.map(({ serverId, name, createdAt, deactivatedAt, realmUuids }) => [
    serverId,
    name,
    deactivatedAt === undefined ? 'active' : 'deactivated',
    new Date(createdAt).toISOString().slice(0, 10),
    realmUuids.join('\n'),
  ]);
  return formatTable(terminal, { head: ['server id', 'name', 'state', 'added', 'realms'], rows });
}

function collectUuids(text: string, previous: readonly string[] = []): readonly string[] {
  return [...new Set([...previous, readUuid(text)])];
}

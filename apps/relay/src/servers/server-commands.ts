import { randomUUID } from 'node:crypto';
import { type OutputFlags, printResult, type Terminal, withJson } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { recordingCommand } from '../acts/record-command.js';
import { withRelayDatabase } from '../with-database.js';
import { addChanging } from './change-commands.js';
import { addInviting } from './joining/invite-command.js';
import { printCredentials } from './print-credentials.js';
import { readUuid } from './read-uuid.js';
import { addShowing } from './show-commands.js';

/** Lazy import, so that `--help` stays fast. */
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
  addShowing(servers, terminal);
  addChanging(servers, terminal);
}

function addAdding(servers: Command, terminal: Terminal): void {
  withJson(servers.command('add'))
    .description('let a server use the relay; prints its id and its key, which is shown only once')
    .requiredOption('--realm <uuid>', 'a realm (organization) of the server; repeatable', collectUuids)
    .option('--name <text>', 'display name of the server', '')
    .option('--server-id <uuid>', "the server's existing id (default: a new one)", readUuid)
    .action(async ({ realm: realmUuids, name, serverId = randomUUID(), json }: AddFlags) => {
      const added = await withRelayDatabase(terminal, async (database) =>
        (await manage()).addServer(
          recordingCommand(database, terminal, { action: 'servers add', subject: serverId, detail: name }),
          { serverId, name, realmUuids },
          terminal.clock(),
        ),
      );
      printCredentials(terminal, { ...added, realmUuids }, { json });
    });
  withJson(servers.command('add-realm'))
    .description('give a server one more realm')
    .argument('<server-id>', 'the server', readUuid)
    .requiredOption('--realm <uuid>', 'the realm (organization); repeatable', collectUuids)
    .action(async (serverId: string, { realm: realmUuids, json }: RealmFlags) => {
      await withRelayDatabase(terminal, async (database) =>
        (await manage()).addRealms(
          recordingCommand(database, terminal, {
            action: 'servers add-realm',
            subject: serverId,
            detail: realmUuids.join(' '),
          }),
          serverId,
          realmUuids,
          terminal.clock(),
        ),
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

function collectUuids(text: string, previous: readonly string[] = []): readonly string[] {
  return [...new Set([...previous, readUuid(text)])];
}

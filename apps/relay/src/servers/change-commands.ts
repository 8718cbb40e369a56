import {
  type ConsentFlags,
  type OutputFlags,
  printResult,
  requireConsent,
  type Terminal,
  withJson,
  withYes,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { recordingCommand } from '../acts/record-command.js';
import type { RelayDatabase } from '../tables.js';
import { withRelayDatabase } from '../with-database.js';
import { printCredentials } from './print-credentials.js';
import { readUuid } from './read-uuid.js';

/** Lazy import, so that `--help` stays fast. */
const manage = () => import('./manage-servers.js');

/** Adds the commands that change one server. */
export function addChanging(servers: Command, terminal: Terminal): void {
  addRenaming(servers, terminal);
  addSuspending(servers, terminal);
  addRotating(servers, terminal);
  addRemoving(servers, terminal);
}

function addRenaming(servers: Command, terminal: Terminal): void {
  withJson(servers.command('rename'))
    .description('change the display name of a server')
    .argument('<server-id>', 'the server', readUuid)
    .argument('<name>', 'the new name')
    .action(async (serverId: string, name: string, { json }: OutputFlags) => {
      await withRelayDatabase(terminal, async (database) =>
        (await manage()).renameServer(
          recordingCommand(database, terminal, { action: 'servers rename', subject: serverId, detail: name }),
          serverId,
          name,
        ),
      );
      const people = `The server ${serverId} is now called "${name}".`;
      printResult(terminal, { json }, { machines: { server_id: serverId, name }, people });
    });
}

function addSuspending(servers: Command, terminal: Terminal): void {
  withYes(withJson(servers.command('suspend')))
    .description('refuse all requests of a server; its realms and devices are kept')
    .argument('<server-id>', 'the server', readUuid)
    .action(async (serverId: string, { json, yes }: ConsentFlags) => {
      const question = `No user of the server ${serverId} gets notifications any more. Continue?`;
      const changed = await changeWithConsent(terminal, { serverId, question, yes }, async (database) =>
        (await manage()).suspendServer(
          recordingCommand(database, terminal, { action: 'servers suspend', subject: serverId }),
          serverId,
          terminal.clock(),
        ),
      );
      const machines = { server_id: serverId, state: 'suspended', changed };
      const people = `The server ${serverId} is suspended; "servers resume" undoes that.`;
      printResult(terminal, { json }, { machines, people });
    });
  withJson(servers.command('resume'))
    .description('reactivate a server that was suspended or that deactivated itself; its key does not change')
    .argument('<server-id>', 'the server', readUuid)
    .action(async (serverId: string, { json }: OutputFlags) => {
      const changed = await withRelayDatabase(terminal, async (database) =>
        (await manage()).resumeServer(
          recordingCommand(database, terminal, { action: 'servers resume', subject: serverId }),
          serverId,
        ),
      );
      const machines = { server_id: serverId, state: 'active', changed };
      printResult(terminal, { json }, { machines, people: `The server ${serverId} is active.` });
    });
}

function addRotating(servers: Command, terminal: Terminal): void {
  withYes(withJson(servers.command('rotate-key')))
    .description(
      'give a server a new key, which is printed only once; the old key is accepted for ten more minutes',
    )
    .argument('<server-id>', 'the server', readUuid)
    .option('--now', 'end the old key immediately, for example because it was stolen')
    .action(
      async (serverId: string, { json, yes, now = false }: ConsentFlags & { readonly now?: boolean }) => {
        const from = now ? 'immediately' : 'in ten minutes';
        const question = `The server ${serverId} is refused ${from}, until it has the new key. Continue?`;
        const rotated = await changeWithConsent(terminal, { serverId, question, yes }, async (database) =>
          (await manage()).rotateServerKey(
            recordingCommand(database, terminal, { action: 'servers rotate-key', subject: serverId }),
            { serverId, isImmediate: now },
            terminal.clock(),
          ),
        );
        printCredentials(terminal, rotated, { json });
      },
    );
}

function addRemoving(servers: Command, terminal: Terminal): void {
  withYes(withJson(servers.command('remove')))
    .description(
      'remove a server with its realms, devices and everything else that the relay stores about it',
    )
    .argument('<server-id>', 'the server', readUuid)
    .action(async (serverId: string, { json, yes }: ConsentFlags) => {
      const question = `All data of the server ${serverId} is deleted, and its phones must register again elsewhere. Continue?`;
      const devices = await changeWithConsent(terminal, { serverId, question, yes }, async (database) =>
        (await import('./remove-server.js')).removeServer(database, {
          serverId,
          act: { actor: 'command line', action: 'servers remove', subject: serverId, at: terminal.clock() },
        }),
      );
      const machines = { server_id: serverId, removed_devices: devices };
      const people = `The server ${serverId} is removed, with ${devices} devices.`;
      printResult(terminal, { json }, { machines, people });
    });
}

interface Consent {
  readonly serverId: string;
  readonly question: string;
  readonly yes: ConsentFlags['yes'];
}

/** Asks for consent, then changes a server. @throws CommandError for an unknown server, or without consent. */
function changeWithConsent<Result>(
  terminal: Terminal,
  { serverId, question, yes }: Consent,
  change: (database: RelayDatabase) => Promise<Result>,
): Promise<Result> {
  return withRelayDatabase(terminal, async (database) => {
    await (await manage()).requireServer(database.db, serverId);
    await requireConsent(terminal, question, yes);
    return change(database);
  });
}

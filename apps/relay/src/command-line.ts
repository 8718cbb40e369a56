import { type AdministrationOptions, addDatabaseCommands, addQueueCommands } from '@waxwing/administration';
import { CommandError, requireConsent, type Terminal } from '@waxwing/service/command-line';
import { describeBootError, runProcess } from '@waxwing/service/lifecycle';
import { createLogger } from '@waxwing/service/logging';
import { Command, CommanderError } from 'commander';
import { readDatabaseEnvironment, readRelayEnvironment } from './configuration.js';
import { addAppCommands } from './deliveries/apps/app-commands.js';
import { addKeyCommands } from './keyring/key-ring-commands.js';
import { relayMigrationSets } from './relay-tables.js';
import { startRelay } from './serve.js';
import { addServerCommands } from './servers/server-commands.js';

const name = 'waxwing-relay';
const usageErrorStatus = 2;

/** Carries out one command. The answer is the exit status: 0, 1 when it failed, 2 when it was not understood. */
export async function runCommandLine(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await relayProgram(terminal).parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageErrorStatus;
    terminal.say(`${name}: ${error instanceof CommandError ? error.message : describeBootError(error)}`);
    return 1;
  }
}

function relayProgram(terminal: Terminal): Command {
  const program = new Command(name)
    .description('Takes sealed registrations from servers and delivers notifications that it cannot read')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.say(text.trimEnd()),
    });
  program
    .command('serve')
    .description('run the relay; it is configured by RELAY_ variables and logs JSON lines to standard output')
    .allowExcessArguments(false)
    .action(async () => {
      const configuration = readRelayEnvironment(terminal.environment);
      const log = createLogger(name, configuration.logLevel);
      await runProcess({ name, log, start: () => startRelay(configuration, { log }) });
    });
  addServerCommands(program, terminal);
  addAppCommands(program, terminal);
  addKeyCommands(program, terminal);
  addDatabaseCommands(program, administration(terminal));
  addQueueCommands(program, administration(terminal));
  return program;
}

function administration(terminal: Terminal): AdministrationOptions {
  return {
    databaseUrl: () => readDatabaseEnvironment(terminal.environment).reveal(),
    migrations: relayMigrationSets,
    clock: terminal.clock,
    print: (text) => terminal.print(text),
    say: (text) => terminal.say(text),
    requireConsent: (question, yes) => requireConsent(terminal, question, yes),
    refusal: (sentence) => new CommandError(sentence),
    shownPayloadFields: [
      'serverId',
      'realmId',
      'realmUuid',
      'relayDeviceId',
      'notificationId',
      'vendor',
      'priority',
      'pushType',
      'receivedAt',
      'timeToLiveSeconds',
    ],
  };
}

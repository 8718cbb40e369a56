import { printResult, withJson } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import type { EnableFlags } from './enable-push.js';
import type { PushProgram } from './push-program.js';

/** Adds the command `enable`. */
export function addEnableCommand(push: Command, program: PushProgram): void {
  withJson(push.command('enable'))
    .description('join a relay, and use it immediately in every process; if interrupted, run it again')
    .requiredOption('--relay <url>', 'the address of the relay')
    .option('--invitation <code>', "the code that the relay's operator gave you")
    .option(
      '--contact <address>',
      `e-mail address for the operator${program.contactIs === undefined ? '' : `; by default ${program.contactIs}`}`,
    )
    .option(
      '--hostname <name>',
      `name of this server; by default the host in ${program.names.prefix}REALM_URL`,
    )
    .option(
      '--transfer',
      'take over the registration of the same host, with a new key: for a server that moved or lost its credentials; it must be running',
    )
    .action(async (flags: EnableFlags) => {
      // Imported lazily, so that help is fast.
      const { enablePush } = await import('./enable-push.js');
      const result = await program.withPush((work) => enablePush(program, work, flags));
      printResult(program.terminal, flags, result);
    });
}

import {
  CommandError,
  type OutputFlags,
  printResult,
  type Terminal,
  withJson,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';

interface CheckFlags extends OutputFlags {
  readonly topic?: string;
}

export function addAppCheckCommand(apps: Command, terminal: Terminal): void {
  withJson(apps.command('check'))
    .description('check the credential of each app with Google or Apple, without notifying a phone')
    .option('--topic <bundle-id>', 'the bundle id to check for an entry with "topics": "*"')
    .action(async ({ topic, json }: CheckFlags) => {
      // Lazy import, so that `--help` stays fast.
      const { checkConfiguredApps } = await import('./check-configured-apps.js');
      const checks = await checkConfiguredApps(terminal, topic);
      printResult(
        terminal,
        { json },
        {
          machines: { ok: checks.every(({ ok }) => ok), apps: checks },
          people: checks
            .map(({ app, ok, sentence }) => `${ok ? 'ok    ' : 'FAILED'}  ${app}: ${sentence}`)
            .join('\n'),
        },
      );
      const wrong = checks.filter(({ ok }) => !ok).map(({ app }) => app);
      if (wrong.length > 0)
        throw new CommandError(`Not all credentials are known to work: see ${wrong.join(', ')}.`);
    });
}

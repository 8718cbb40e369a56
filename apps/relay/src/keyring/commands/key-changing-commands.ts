import { CommandError, type Terminal } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { type AskedChangeFlags, type ChangeFlags, makeChange, withConsent, withDryRun } from './output.js';

/** Lazy import, so that `--help` stays fast. */
const changes = () => import('../administration/change-keys.js');

interface RetireFlags extends AskedChangeFlags {
  readonly force?: true;
}
interface RevokeFlags extends AskedChangeFlags {
  readonly compromised?: true;
}
interface MendFlags extends ChangeFlags {
  readonly today: string;
}

/** Adds `rotate`, `retire`, `revoke` and `mend-dates`. */
export function addChangingKeys(keys: Command, terminal: Terminal): void {
  withDryRun(keys.command('rotate'))
    .description('create a new primary key; the old key is still accepted')
    .action(async (flags: ChangeFlags) =>
      makeChange(terminal, flags, { operation: (await changes()).rotateKeys }),
    );
  withDryRun(keys.command('mend-dates'))
    .description('reset dates in the ring that were written while the clock was far ahead')
    .requiredOption(
      '--today <day>',
      "today's date, such as 2026-11-22, from a calendar and not from this machine",
    )
    .action(async ({ today, ...flags }: MendFlags) =>
      makeChange(terminal, flags, { operation: (await changes()).mendRingDates, form: { today } }),
    );
  withConsent(keys.command('retire'))
    .description('refuse an accepted key from now on, and destroy its private half')
    .argument('<key>', "the key's id or public key")
    .option('--force', 'retire the key even if phones still use it')
    .action(async (key: string, flags: RetireFlags) =>
      makeChange(terminal, flags, {
        operation: (await changes()).retireKey,
        form: { key, force: String(flags.force ?? false) },
        question: 'Its private half is destroyed permanently. Continue?',
      }),
    );
  withConsent(keys.command('revoke'))
    .description(
      'refuse a key immediately, because its private half may be stolen, and notify phones through the key list',
    )
    .argument('<key>', "the key's id or public key")
    .option('--compromised', 'confirm that the key may be stolen')
    .action(async (key: string, flags: RevokeFlags) => {
      if (!flags.compromised) {
        throw new CommandError(
          'Add --compromised if the key may be stolen; "keys retire" is for a key that is only old.',
        );
      }
      return makeChange(terminal, flags, {
        operation: (await changes()).revokeKey,
        form: { key },
        question: 'Phones that have not followed the key list are refused until they do. Continue?',
      });
    });
}

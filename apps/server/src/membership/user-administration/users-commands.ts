import {
  CommandError,
  type CommandResult,
  type ConsentFlags,
  type ListFlags,
  type OutputFlags,
  printListing,
  printResult,
  requireConsent,
  type Terminal,
  withJson,
  withListing,
  withYes,
} from '@waxwing/service/command-line';
import { Argument, type Command, Option } from 'commander';
import type { User } from '../../people/users/user-store.js';
import { type RoleName, roleName, roleNames, roles } from '../../platform/authentication/roles.js';
import { withServerDatabase } from '../../with-database.js';
import type { ProvisionedUser } from './manage-users.js';

/** Imported lazily, so that `--help` stays fast. */
const manage = () => import('./manage-users.js');
const changeActivity = () => import('./change-activity.js');

interface AddFlags extends OutputFlags {
  readonly email: string;
  readonly name?: string;
  readonly role: RoleName;
  readonly bot?: boolean;
  readonly owner?: string;
}

interface SetFlags extends OutputFlags {
  readonly canChangeUserEmails: 'yes' | 'no';
}

interface DestroyFlags extends ConsentFlags {
  readonly email?: string;
}

/** Adds the commands `waxwing-server users add|list|set|set-password|rotate-key|deactivate|reactivate`. */
export function addUsersCommands(users: Command, terminal: Terminal): void {
  addAddCommand(users, terminal);
  addListCommand(users, terminal);
  addSetCommand(users, terminal);
  addSetPasswordCommand(users, terminal);
  addRotateCommand(users, terminal);
  addDeactivateCommand(users, terminal);
  addReactivateCommand(users, terminal);
}

function addAddCommand(users: Command, terminal: Terminal): void {
  withJson(users.command('add'))
    .description('add a user or a bot and print its API key, which is shown only once')
    .requiredOption('--email <address>', 'the e-mail address')
    .option('--name <name>', 'the full name (default: the first part of the address)')
    .addOption(new Option('--role <role>', 'the role').choices(roleNames).default('member'))
    .option('--bot', 'add a bot, which cannot register push devices')
    .option('--owner <address>', "the e-mail address of the bot's owner")
    .action(async (flags: AddFlags) => {
      const profile = {
        email: flags.email,
        fullName: flags.name ?? flags.email.split('@', 1)[0] ?? '',
        role: roles[flags.role],
        isBot: flags.bot === true,
        ownerEmail: flags.owner,
      };
      const added = await withServerDatabase(
        terminal,
        async (database, { realm }) =>
          (await manage()).addUser(database, { clock: terminal.clock, realm }, profile),
        {
          // A new database has no user who could own a bot.
          mayCreate: flags.owner === undefined,
          check: async (configuration) => (await manage()).checkUserToAdd(profile, configuration),
        },
      );
      printResult(terminal, flags, provisioned('Added', added));
    });
}

function addListCommand(users: Command, terminal: Terminal): void {
  withListing(users.command('list'), { searched: 'name or e-mail address' })
    .description('list users and bots, oldest first')
    .action(async (text: string | undefined, flags: ListFlags) => {
      const { allUsers } = await manage();
      await withServerDatabase(terminal, (database) =>
        printListing(terminal, flags, {
          name: 'users',
          pages: allUsers(database, { text, limit: flags.limit }),
          machines: userJson,
          head: ['id', 'e-mail', 'name', 'role', 'bot'],
          people: ({ id, email, fullName, role, isBot }) => {
            return [id, email, fullName, roleName(role), isBot ? 'yes' : ''];
          },
        }),
      );
    });
}

function addSetCommand(users: Command, terminal: Terminal): void {
  withJson(users.command('set'))
    .description("change a user's special permissions")
    .argument('<address>', 'the e-mail address of the user')
    .addOption(
      new Option(
        '--can-change-user-emails <yes|no>',
        "whether this user, as an owner, may change other users' e-mail addresses",
      )
        .choices(['yes', 'no'])
        .makeOptionMandatory(),
    )
    .action(async (address: string, flags: SetFlags) => {
      const isAllowed = flags.canChangeUserEmails === 'yes';
      const user = await withServerDatabase(terminal, async (database) =>
        (await manage()).letChangeAddresses(database, address, isAllowed),
      );
      const may = isAllowed ? 'may, as an owner,' : 'may not';
      printResult(terminal, flags, {
        machines: { ...userJson(user), can_change_user_emails: isAllowed },
        people: `${user.email} ${may} change other users' e-mail addresses.`,
      });
    });
}

function addSetPasswordCommand(users: Command, terminal: Terminal): void {
  withJson(users.command('set-password'))
    .description("set a user's password, read from a hidden prompt or from standard input")
    .argument('<address>', 'the e-mail address of the user')
    .action(async (address: string, flags: OutputFlags) => {
      const { setPassword } = await import('./set-password.js');
      const { user, revokedInvitations } = await withServerDatabase(terminal, (database) =>
        setPassword(database, terminal.clock, address, () =>
          terminal.readSecret(`New password of ${address}: `),
        ),
      );
      const done = `Set the password of ${user.email}. Devices that were signed in with the old password must sign in again.`;
      printResult(terminal, flags, {
        machines: { ...userJson(user), revoked_invitations: revokedInvitations },
        people: done + andInvitations(revokedInvitations),
      });
    });
}

function addRotateCommand(users: Command, terminal: Terminal): void {
  destructive(users.command('rotate-key'))
    .description('replace the API key of a user, remove their push devices and revoke their invitation links')
    .action(async (address: string | undefined, flags: DestroyFlags) => {
      const email = addressOf(address, flags);
      const rotated = await withServerDatabase(terminal, async (database) => {
        const { requireUser, rotateApiKey } = await manage();
        await requireUser(database, email);
        const question = `Replace the API key of ${email}? All their devices must log in again.`;
        await requireConsent(terminal, question, flags.yes);
        return rotateApiKey(database, terminal.clock, email);
      });
      const { revokedInvitations } = rotated;
      const { machines, people } = provisioned(
        'Rotated the key of',
        rotated,
        andInvitations(revokedInvitations),
      );
      printResult(terminal, flags, {
        machines: { ...machines, revoked_invitations: revokedInvitations },
        people,
      });
    });
}

function addDeactivateCommand(users: Command, terminal: Terminal): void {
  destructive(users.command('deactivate').alias('remove'))
    .description('deactivate a user and their bots, and remove their keys, push devices and invitation links')
    .action(async (address: string | undefined, flags: DestroyFlags) => {
      const email = addressOf(address, flags);
      const { userIds, revokedInvitations } = await withServerDatabase(terminal, async (database) => {
        const { requireUser } = await manage();
        await requireUser(database, email);
        await requireConsent(terminal, `Deactivate ${email}, their devices and their bots?`, flags.yes);
        const { deactivateByAddress } = await changeActivity();
        return deactivateByAddress(database, terminal.clock, email);
      });
      const bots = userIds.length > 1 ? ` and ${userIds.length - 1} of their bots` : '';
      printResult(terminal, flags, {
        machines: { deactivated_user_ids: [...userIds], revoked_invitations: revokedInvitations },
        people: `Deactivated ${email}${bots}.${andInvitations(revokedInvitations)}`,
      });
    });
}

function addReactivateCommand(users: Command, terminal: Terminal): void {
  withJson(users.command('reactivate'))
    .description('reactivate a user or bot and print its new API key, which is shown only once')
    .argument('<address>', 'the former e-mail address')
    .action(async (address: string, flags: OutputFlags) => {
      const reactivated = await withServerDatabase(terminal, async (database) =>
        (await changeActivity()).reactivateByAddress(database, terminal.clock, address),
      );
      printResult(terminal, flags, provisioned('Reactivated', reactivated));
    });
}

function destructive(command: Command): Command {
  return withJson(
    withYes(
      command
        .addArgument(new Argument('[address]', 'the e-mail address of the user'))
        .option('--email <address>', 'the same address, as an option'),
    ),
  );
}

function addressOf(argument: string | undefined, { email }: DestroyFlags): string {
  const address = argument ?? email;
  if (address === undefined) throw new CommandError("Specify the user's e-mail address.");
  return address;
}

/** Returns a sentence with the number of revoked invitation links, or an empty string if no link was revoked. */
function andInvitations(revoked: number): string {
  if (revoked === 0) return '';
  return revoked === 1
    ? ' Revoked 1 of their invitation links.'
    : ` Revoked ${revoked} of their invitation links.`;
}

function userJson(user: User): object {
  const { id, email, fullName, role, isBot, botOwnerId } = user;
  const common = { user_id: id, email, full_name: fullName, role, is_bot: isBot };
  return isBot ? { ...common, bot_owner_id: botOwnerId ?? null } : common;
}

function provisioned(done: string, { user, apiKey }: ProvisionedUser, more = ''): CommandResult {
  const key = apiKey.reveal();
  return {
    machines: { ...userJson(user), api_key: key },
    people: `${done} ${user.email} (id ${user.id}, ${roleName(user.role)}).${more}\nAPI key (shown only once): ${key}`,
  };
}

import {
  CommandError,
  type OutputFlags,
  printResult,
  type Terminal,
  withJson,
} from '@waxwing/service/command-line';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { recordingCommand } from '../../acts/record-command.js';
import { withRelayDatabase } from '../../with-database.js';
import { readUuid } from '../read-uuid.js';

interface InviteFlags extends OutputFlags {
  readonly hostname?: string;
  readonly serverId?: string;
  readonly expires: number;
  readonly name: string;
}

const minuteMilliseconds = 60_000;
const unitMilliseconds = {
  m: minuteMilliseconds,
  h: 60 * minuteMilliseconds,
  d: 24 * 60 * minuteMilliseconds,
};
const longestMilliseconds = 365 * unitMilliseconds.d;

/** Adds `servers invite`. */
export function addInviting(servers: Command, terminal: Terminal): void {
  withJson(servers.command('invite'))
    .description('let one new server register itself; prints the invitation code, which is shown only once')
    .addOption(
      new Option('--hostname <host>', 'host of the invited server, which then needs no code').conflicts(
        'serverId',
      ),
    )
    .option(
      '--server-id <uuid>',
      'instead of --hostname: the existing id (zulip_org_id) of the server',
      readUuid,
    )
    .option('--expires <duration>', 'validity of the code, such as 12h', readDuration, 7 * unitMilliseconds.d)
    .option('--name <text>', 'display name of the server', '')
    .action(async ({ hostname: host, serverId, expires, name, json }: InviteFlags) => {
      const hostname = host === undefined ? undefined : await readHostOption(host);
      const now = terminal.clock();
      const invitation = { name, hostname, serverId, expiresAt: now + expires };
      const code = await withRelayDatabase(terminal, async (database) =>
        (await import('./invitations.js')).createInvitation(
          recordingCommand(database, terminal, {
            action: 'servers invite',
            subject: hostname ?? serverId ?? name,
          }),
          invitation,
          now,
        ),
      );
      const until = new Date(invitation.expiresAt).toISOString();
      printResult(
        terminal,
        { json },
        {
          machines: {
            invitation: code.reveal(),
            hostname: hostname ?? null,
            server_id: serverId ?? null,
            expires_at: until,
          },
          people: describe(code.reveal(), until, hostname ?? serverId),
        },
      );
    });
}

function describe(code: string, until: string, server: string | undefined): string {
  const whose =
    server === undefined
      ? 'One server may use it'
      : `Only the server ${server} may use it, with or without the code,`;
  return [
    `invitation  ${code}`,
    '',
    `${whose} until ${until}.`,
    'Keep the code now: only its hash is stored, so it cannot be shown again.',
  ].join('\n');
}

/** Lazy import, so that `--help` stays fast. */
async function readHostOption(text: string): Promise<string> {
  const { readHostname } = await import('./hostname.js');
  try {
    return readHostname(text);
  } catch {
    throw new CommandError(
      `"${text}" is not a hostname: use one such as chat.example.org, with the port if it is not 443.`,
    );
  }
}

function readDuration(text: string): number {
  const [, digits = '0', unit = 'm'] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const milliseconds = Number(digits) * unitMilliseconds[unit as keyof typeof unitMilliseconds];
  if (milliseconds > 0 && milliseconds <= longestMilliseconds) return milliseconds;
  throw new InvalidArgumentError('It must be minutes, hours or days, such as 30m, 12h or 7d, at most 365d.');
}

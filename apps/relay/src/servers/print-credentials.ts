import { type OutputFlags, printResult, type Terminal } from '@waxwing/service/command-line';
import type { ServerCredentials } from './manage-servers.js';

/** Credentials as a command prints them. */
export interface PrintedCredentials extends ServerCredentials {
  /** Realms of a new server. */
  readonly realmUuids?: readonly string[];
}

/** Prints a server's id and key and, for a new server, its settings. The key cannot be shown again. */
export function printCredentials(
  terminal: Terminal,
  { serverId, serverKey, realmUuids }: PrintedCredentials,
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
      ...(realmUuids === undefined ? [] : settingsOf(serverId, key)),
    ].join('\n'),
  });
}

/** Returns settings with a placeholder URL: the relay does not know the address at which servers reach it. */
function settingsOf(serverId: string, key: string): string[] {
  return [
    '',
    'Settings for a Waxwing server, such as in server.env. Write only the key into the key file, with mode 0600,',
    'and replace the URL with the address of this relay:',
    '',
    'SERVER_RELAY_URL=https://relay.example.com',
    `SERVER_RELAY_SERVER_ID=${serverId}`,
    'SERVER_RELAY_SERVER_KEY_FILE=/etc/waxwing/relay-server.key',
    '',
    'Lines for /etc/zulip/zulip-secrets.conf on a stock server:',
    '',
    `zulip_org_id = ${serverId}`,
    `zulip_org_key = ${key}`,
  ];
}

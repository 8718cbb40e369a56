import { type OutputFlags, printResult, type Terminal } from '@waxwing/service/command-line';
import type { ServerCredentials } from './manage-servers.js';

/** Prints a server's id and key, this once. */
export function printCredentials(
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

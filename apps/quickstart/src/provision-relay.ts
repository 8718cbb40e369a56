import { rm } from 'node:fs/promises';
import { runRelayCommand } from '@waxwing/relay';
import { type Environment, fileExists, generateCredential, writePrivateFile } from '@waxwing/service/config';
import type { Vendors } from '@waxwing/vendors';
import { captureJson } from './captured-command.js';
import type { QuickstartPaths } from './quickstart-environments.js';
import { readQuickstartSecrets, writeQuickstartSecrets } from './quickstart-secrets.js';

/** Configures vendor credentials for any app at the relay. The first start also creates a key ring and a dashboard token. */
export async function provisionRelay(
  environment: Environment,
  paths: QuickstartPaths,
  { credentials }: Vendors,
): Promise<void> {
  const apps = {
    fcm: [{ service_account_file: credentials.serviceAccountFile }],
    apns: [
      {
        team_id: credentials.apnsTeamId,
        key_id: credentials.apnsKeyId,
        key_file: credentials.apnsKeyFile,
        topics: '*',
      },
    ],
    webpush: [{ name: 'quickstart', contact: 'mailto:operator@quickstart.example', hosts: '*' }],
  };
  await writePrivateFile(paths.apps, `${JSON.stringify(apps, undefined, 2)}\n`);
  if (!(await fileExists(paths.adminToken))) {
    await writePrivateFile(paths.adminToken, `${generateCredential().reveal()}\n`);
  }
  if (await fileExists(paths.keyRing)) return;
  // An earlier start may have been killed after it wrote the recovery key and before it wrote the key ring.
  await rm(paths.recoveryKey, { force: true });
  await captureJson(runRelayCommand, environment, ['keys', 'init', '--recovery-key', paths.recoveryKey]);
}

/** Public keys to build into apps, in base64. The recovery key is `null` if the ring has none. */
export interface RelayPublicKeys {
  readonly bouncer_public_key: string;
  readonly signing_public_key: string;
  readonly recovery_public_key: string | null;
}

/** Returns the public VAPID key that browsers use to subscribe. The relay creates the key when it first starts. */
export async function vapidKeyOf(environment: Environment): Promise<string> {
  const { keys } = await captureJson<{ keys: { public_key: string }[] }>(runRelayCommand, environment, [
    'apps',
    'vapid',
  ]);
  return keys[0]?.public_key ?? '';
}

/** Returns the current public keys. The bouncer key changes with every rotation. */
export function publicKeysOf(environment: Environment): Promise<RelayPublicKeys> {
  return captureJson(runRelayCommand, environment, ['keys', 'export-public']);
}

export interface RelayCredentials {
  readonly serverId: string;
  readonly serverKey: string;
}

/** Registers the realm's server with the relay. Every start uses the same credentials. */
export async function provisionServerAtRelay(
  environment: Environment,
  paths: QuickstartPaths,
  realmUuid: string,
): Promise<RelayCredentials> {
  const secrets = await readQuickstartSecrets(paths.secrets);
  const credentials = secrets.server ?? (await newCredentials(environment, realmUuid));
  await writeQuickstartSecrets(paths.secrets, { ...secrets, server: credentials });
  await writePrivateFile(paths.serverKey, `${credentials.serverKey}\n`);
  return credentials;
}

async function newCredentials(environment: Environment, realmUuid: string): Promise<RelayCredentials> {
  const run = <T>(...argv: string[]): Promise<T> => captureJson<T>(runRelayCommand, environment, argv);
  type Credentials = { server_id: string; server_key: string };
  const { servers } = await run<{ servers: { server_id: string; realms: string[] }[] }>('servers', 'list');
  // An earlier start may have been killed after adding the server and before storing its key.
  const known = servers.find(({ realms }) => realms.includes(realmUuid));
  const made =
    known === undefined
      ? await run<Credentials>('servers', 'add', '--realm', realmUuid, '--name', 'quickstart')
      : await run<Credentials>('servers', 'rotate-key', known.server_id, '--yes');
  return { serverId: made.server_id, serverKey: made.server_key };
}

import { type Environment, writePrivateFile } from '@waxwing/service/config';
import type { RelayPublicKeys } from './provision-relay.js';
import type { QuickstartUser } from './provision-server.js';

export interface QuickstartFacts {
  readonly relay: {
    readonly url: string;
    readonly serverId: string;
    readonly serverKey: string;
    readonly publicKeys: RelayPublicKeys;
    readonly vapidPublicKey: string;
    readonly environment: Environment;
  };
  readonly server: {
    readonly url: string;
    readonly realmUuid: string;
    readonly users: readonly QuickstartUser[];
    readonly environment: Environment;
  };
  readonly vendors: { readonly urls: { readonly http: string; readonly webPush: string } };
}

/** Writes the file that programs need to use this quickstart. Atomic; only the owner can read the file. */
export async function writeQuickstartFile(
  path: string,
  { relay, server, vendors }: QuickstartFacts,
): Promise<void> {
  const facts = {
    relay: {
      url: relay.url,
      server_id: relay.serverId,
      server_key: relay.serverKey,
      bouncer_public_key: relay.publicKeys.bouncer_public_key,
      signing_public_key: relay.publicKeys.signing_public_key,
      recovery_public_key: relay.publicKeys.recovery_public_key,
      vapid_public_key: relay.vapidPublicKey,
      env: relay.environment,
    },
    server: {
      url: server.url,
      realm_uuid: server.realmUuid,
      users: server.users,
      env: server.environment,
    },
    vendors: { url: vendors.urls.http, web_push_url: vendors.urls.webPush },
  };
  await writePrivateFile(path, `${JSON.stringify(facts, undefined, 2)}\n`);
}

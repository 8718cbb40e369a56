import type { RelayAccount } from '@waxwing/server-push';
import { ConfigurationError, readPrivateFile, Secret } from '@waxwing/service/config';
import type { RelaySettings } from '../configuration.js';

/**
 * The relay with this server's key from its file. @throws ConfigurationError when the file must not be used or holds
 * none.
 */
export async function readRelayKey(settings: RelaySettings): Promise<RelayAccount> {
  if (settings.kind === 'not-configured') return settings;
  const { kind, url, serverId, serverKeyFile } = settings;
  const key = (await readPrivateFile(serverKeyFile, 'SERVER_RELAY_SERVER_KEY_FILE')).trim();
  if (key === '') {
    throw new ConfigurationError([
      `The file ${serverKeyFile} holds no key: write into it what waxwing-relay servers add printed.`,
    ]);
  }
  return { kind, url, serverId, serverKey: new Secret(key) };
}

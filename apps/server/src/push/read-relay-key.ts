import type { RelayAccount } from '@waxwing/server-push';
import { ConfigurationError, readPrivateFile, Secret } from '@waxwing/service/config';
import type { RelaySettings } from '../configuration.js';

/** Reads this server's relay key from its file. @throws ConfigurationError if the file is not private or holds no key. */
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

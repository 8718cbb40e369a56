import { ConfigurationError, readPrivateFile, Secret } from '@waxwing/service/config';
import type { AdminNames } from '../admin-names.js';
import type { RelayAccount } from '../server-push-options.js';
import type { RelaySettings } from './account-settings.js';

/**
 * Reads this server's relay key from its file. @throws ConfigurationError if the file is not private or contains no
 * key.
 */
export async function readRelayKey(settings: RelaySettings, { prefix }: AdminNames): Promise<RelayAccount> {
  if (settings.kind === 'not-configured') return settings;
  const { kind, url, serverId, serverKeyFile } = settings;
  const key = findKey(await readPrivateFile(serverKeyFile, `${prefix}RELAY_SERVER_KEY_FILE`));
  if (key === undefined) {
    throw new ConfigurationError([
      `The file ${serverKeyFile} contains no key: write only the key into it, as printed by waxwing-relay servers add.`,
    ]);
  }
  return { kind, url, serverId, serverKey: new Secret(key) };
}

/**
 * Finds a key of this project's relay in a file's content, even next to its label or in quotes. If there is none,
 * returns content that is a single word, which may be the key of a different relay.
 */
function findKey(text: string): string | undefined {
  const keys = text.match(/(?<![0-9a-z])[0-9a-f]{64}(?![0-9a-z])/gi) ?? [];
  if (keys.length === 1) return keys[0];
  const content = text.trim();
  return keys.length > 1 || content === '' || /[\s{]|[0-9a-f]{65}/i.test(content) ? undefined : content;
}

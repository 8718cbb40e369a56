import { readAuthorities } from '@waxwing/service/config';
import type { RelayNetwork } from '../server-push-options.js';
import type { RelayNetworkSettings } from './account-settings.js';

const authoritiesSetting = 'SERVER_RELAY_CA_FILE';

/** Reads how the relay is reached. @throws ConfigurationError if the file of authorities holds none. */
export async function readRelayNetwork({ caFile, proxyUrl }: RelayNetworkSettings): Promise<RelayNetwork> {
  const authorities = caFile === undefined ? undefined : await readAuthorities(caFile, authoritiesSetting);
  return { authoritiesSetting, authorities, proxyUrl, proxySetting: 'SERVER_RELAY_PROXY' };
}

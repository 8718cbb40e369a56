import { readAuthorities } from '@waxwing/service/config';
import type { AdminNames } from '../admin-names.js';
import type { RelayNetwork } from '../server-push-options.js';
import type { RelayNetworkSettings } from './account-settings.js';

/**
 * Reads the network path to the relay. @throws ConfigurationError if the file of certificate authorities contains no
 * certificate.
 */
export async function readRelayNetwork(
  { caFile, proxyUrl }: RelayNetworkSettings,
  { prefix }: AdminNames,
): Promise<RelayNetwork> {
  const authoritiesSetting = `${prefix}RELAY_CA_FILE`;
  const authorities = caFile === undefined ? undefined : await readAuthorities(caFile, authoritiesSetting);
  return { authoritiesSetting, authorities, proxyUrl, proxySetting: `${prefix}RELAY_PROXY` };
}

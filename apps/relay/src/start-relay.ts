import { type ListeningService, listen } from '@waxwing/service/http';
import type { RelayConfiguration } from './configuration.js';
import { createRelay, type Relay, type RelayOverrides } from './create-relay.js';

export interface ListeningRelay extends ListeningService, Pick<Relay, 'reloadCredentials'> {}

/**
 * Starts a relay and listens on the configured ports.
 * @throws as {@link createRelay}, and if a port is in use.
 */
export async function startRelay(
  configuration: RelayConfiguration,
  overrides: RelayOverrides = {},
): Promise<ListeningRelay> {
  const relay = await createRelay(configuration, overrides);
  const listening = await listen(relay, configuration);
  const { url, metricsUrl } = listening;
  relay.context.log.info({ url, metricsUrl }, 'ready');
  return { ...listening, reloadCredentials: () => relay.reloadCredentials() };
}

import { type ListeningService, listen } from '@waxwing/service/http';
import type { RelayConfiguration } from './configuration.js';
import { createRelay, type RelayOverrides } from './create-relay.js';

/**
 * Starts a relay and listens on the configured ports.
 * @throws as {@link createRelay}, and if a port is taken.
 */
export async function startRelay(
  configuration: RelayConfiguration,
  overrides: RelayOverrides = {},
): Promise<ListeningService> {
  const relay = await createRelay(configuration, overrides);
  const listening = await listen(relay, configuration);
  const { url, metricsUrl } = listening;
  relay.context.log.info({ url, metricsUrl }, 'ready');
  return listening;
}

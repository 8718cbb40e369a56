import { packageVersion } from '@waxwing/service/command-line';
import { type ListeningService, listen } from '@waxwing/service/http';
import { openInOrder } from '@waxwing/service/lifecycle';
import { startTracing } from '@waxwing/service/tracing';
import type { RelayConfiguration } from './configuration.js';
import { createRelay, type Relay, type RelayOverrides } from './create-relay.js';

export interface ListeningRelay extends ListeningService, Pick<Relay, 'reloadCredentials'> {}

/**
 * Starts a relay and listens on the configured ports.
 * @throws the errors of {@link createRelay}, and an error if a port is in use.
 */
export async function startRelay(
  configuration: RelayConfiguration,
  overrides: RelayOverrides = {},
): Promise<ListeningRelay> {
  return openInOrder(async (closers) => {
    const version = packageVersion(new URL('../package.json', import.meta.url));
    const tracing = await startTracing(configuration.tracing, { name: 'waxwing-relay', version });
    closers.push(() => tracing.close());
    const relay = await createRelay(configuration, overrides);
    const { close, ...listening } = await listen(relay, configuration);
    closers.push(close);
    relay.context.log.info({ url: listening.url, metricsUrl: listening.metricsUrl }, 'ready');
    return { ...listening, reloadCredentials: () => relay.reloadCredentials() };
  });
}

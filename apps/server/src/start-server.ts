import { packageVersion } from '@waxwing/service/command-line';
import { type ListeningService, listen } from '@waxwing/service/http';
import { openInOrder } from '@waxwing/service/lifecycle';
import { startTracing } from '@waxwing/service/tracing';
import type { ServerConfiguration } from './configuration.js';
import { createServer, type Server, type ServerOverrides } from './create-server.js';

export interface ListeningServer extends ListeningService, Pick<Server, 'reloadCredentials'> {}

/**
 * Starts a server and listens as configured.
 * @throws the errors of {@link createServer}, and an error if a port is in use.
 */
export async function startServer(
  configuration: ServerConfiguration,
  overrides: ServerOverrides = {},
): Promise<ListeningServer> {
  const { realm } = configuration;
  return openInOrder(async (closers) => {
    const version = packageVersion(new URL('../package.json', import.meta.url));
    const tracing = await startTracing(configuration.tracing, { name: 'waxwing-server', version });
    closers.push(() => tracing.close());
    const server = await createServer(configuration, overrides);
    const { close, ...listening } = await listen(server, configuration);
    closers.push(close);
    if (realm.hasDefaultUrl) {
      server.log.warn(
        { realmUrl: realm.url },
        'SERVER_REALM_URL is not set, so notifications contain the address that this process listens on, and phones that use another address reject them: set SERVER_REALM_URL to the URL that apps use',
      );
    }
    server.log.info(
      { url: listening.url, metricsUrl: listening.metricsUrl, relay: configuration.relay.kind },
      'ready',
    );
    return { ...listening, reloadCredentials: () => server.reloadCredentials() };
  });
}

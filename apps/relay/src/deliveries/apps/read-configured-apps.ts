import { ConfigurationError } from '@waxwing/service/config';
import type { DeliveriesConfiguration } from '../deliveries-configuration.js';
import { type AppSet, readAppsFile } from './read-apps-file.js';

/**
 * Reads the configured apps file. Returns no apps if no file is configured.
 * @throws ConfigurationError that lists every problem in the file, or every Web Push app that allows any host although
 * a proxy is configured.
 */
export async function readConfiguredApps({ apps, proxyUrl }: DeliveriesConfiguration): Promise<AppSet> {
  if (apps.kind === 'not-configured') return { fcm: [], apns: [], webpush: [] };
  const { file } = apps;
  const set = await readAppsFile(file);
  const open = set.webpush.filter(({ hosts }) => hosts === '*');
  if (proxyUrl === undefined || open.length === 0) return set;
  throw new ConfigurationError(
    open.map(
      ({ name }) =>
        `The Web Push app ${name} in ${file} allows every host, but the proxy of RELAY_PROXY looks up names that phones choose: list its push services in "hosts", or unset RELAY_PROXY.`,
    ),
  );
}

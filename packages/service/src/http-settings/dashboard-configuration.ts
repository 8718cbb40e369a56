import type { EnvironmentReader } from '../config/index.js';

/** The dashboard's configuration: off, or on with a token file and the port that serves the dashboard. */
export type DashboardConfiguration =
  | { readonly kind: 'off' }
  | { readonly kind: 'on'; readonly tokenFile: string; readonly port: 'main' | 'metrics' };

/** Reads the `ADMIN_…` variables. Reports problems to `reader`. */
export function readDashboardEnvironment(
  reader: EnvironmentReader,
  { hasMetricsPort }: { readonly hasMetricsPort: boolean },
): DashboardConfiguration {
  const tokenFile = reader.optional('ADMIN_TOKEN_FILE');
  const isPortChosen = reader.optional('ADMIN_ON') !== undefined;
  const port = reader.oneOf('ADMIN_ON', ['main', 'metrics'], hasMetricsPort ? 'metrics' : 'main');
  const [tokenName, portName] = [reader.fullName('ADMIN_TOKEN_FILE'), reader.fullName('ADMIN_ON')];
  if (isPortChosen && tokenFile === undefined) {
    reader.problem(
      `${portName} says where the dashboard is, but ${tokenName} is not set: set both or neither.`,
    );
  }
  if (port === 'metrics' && !hasMetricsPort) {
    reader.problem(
      `${portName} is "metrics", but ${reader.fullName('METRICS_PORT')} is not set: set it too.`,
    );
  }
  return tokenFile === undefined ? { kind: 'off' } : { kind: 'on', tokenFile, port };
}

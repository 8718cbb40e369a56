import { ProtocolError } from '@waxwing/protocol';
import { type Clock, findConnectTrouble } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { Metrics } from '@waxwing/service/metrics';
import { authoritiesSetting } from '../../network/outgoing-authorities.js';
import { ServerQuotas, unknownAddress } from '../server-quotas.js';
import { type HostAnswer, HostAsker, type HostNetwork } from './ask-host.js';
import type { JoiningConfiguration } from './joining-configuration.js';

/** Maximum body size of the joining operations: enough for a few short fields. */
export const joiningBodyLimitBytes = 8192;
/** Maximum number of joining requests per client address and minute. */
const requestsPerAddress = 30;

/** Shared context of the operations that servers use to join. */
export interface Joining extends JoiningConfiguration {
  /**
   * Charges a request to the quota of its client address, runs `work`, and counts the outcome.
   * @throws ProtocolError RATE_LIMIT_HIT with HTTP 503, and the errors of `work`.
   */
  run<Result>(request: JoiningRequest<Result>): Promise<Result>;
  /** Requests a path from a server's host; see {@link HostAsker}. */
  askHost(hostname: string, path: string): Promise<HostAnswer>;
}

interface JoiningRequest<Result> {
  readonly address: string | undefined;
  readonly work: () => Promise<Result>;
  /** Classifies a success for the metric. */
  readonly outcomeOf: (result: Result) => 'created' | 'updated' | 'transferred' | 'challenged';
}

interface JoiningParts {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly hostNetwork: HostNetwork;
  readonly log: Log;
}

export function createJoining(
  configuration: JoiningConfiguration,
  { clock, metrics, hostNetwork, log }: JoiningParts,
): Joining {
  const hosts = new HostAsker(hostNetwork);
  const quotas = new ServerQuotas(requestsPerAddress, clock, 'joining-per-address');
  const registrations = metrics.counter(
    'waxwing_server_registrations_total',
    'Requests of servers to join, by outcome',
    ['outcome'],
  );
  return {
    ...configuration,
    async askHost(hostname, path) {
      try {
        return await hosts.ask({ hostname, path, mayBePrivate: configuration.mayHostsBePrivate });
      } catch (error) {
        logTlsTrouble(log, hostname, error);
        throw error;
      }
    },
    async run({ address = unknownAddress, work, outcomeOf }) {
      try {
        quotas.take(address, 1);
        const result = await work();
        registrations.inc({ outcome: outcomeOf(result) });
        return result;
      } catch (error) {
        const isRefused = error instanceof ProtocolError && error.httpStatus < 500;
        const isLimited = error instanceof ProtocolError && error.code === 'RATE_LIMIT_HIT';
        registrations.inc({ outcome: isLimited ? 'rate-limited' : isRefused ? 'refused' : 'failed' });
        throw error;
      }
    },
  };
}

/** Logs why TLS failed. The response omits the reason, because the client is unauthenticated. */
function logTlsTrouble(log: Log, hostname: string, error: unknown): void {
  const trouble = findConnectTrouble((error as Error).cause, authoritiesSetting);
  if (trouble?.step !== 'tls') return;
  log.warn(`The host ${hostname} cannot be verified: ${trouble.what}: ${trouble.remedy}`);
}

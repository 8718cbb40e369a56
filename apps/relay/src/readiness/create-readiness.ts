import { Readiness, StartFileWatch } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import type { RelayConfiguration } from '../configuration.js';
import type { RelayContext } from '../context.js';
import { relayFileChecks } from '../file-checks.js';
import { keysReadiness } from '../keyring/live/keys-readiness.js';
import type { OpenKeyRing } from '../keyring/open-key-ring.js';
import type { UnreadableTokens } from '../registrations/store/unreadable-tokens.js';
import type { LoadWatch } from './load-watch.js';
import { openLoadWatch } from './open-load-watch.js';

type WatchedContext = Omit<RelayContext, 'keyRing'> & {
  readonly monotonic: Clock;
  readonly keyRing: OpenKeyRing['keyRing'];
  readonly unreadableTokens: Pick<UnreadableTokens, 'describe'>;
};

/** Creates the readiness checks of a relay, and its load watch, which is one of the checks. */
export function createReadiness(
  configuration: RelayConfiguration,
  context: WatchedContext,
): { readonly readiness: Readiness; readonly load: LoadWatch } {
  const { database, deliveries, log, metrics, monotonic, keyRing, unreadableTokens } = context;
  const files = new StartFileWatch({
    checks: relayFileChecks(configuration),
    reportedElsewhere: [{ name: 'key-ring', check: () => keyRing.requireStored() }],
    metrics,
    monotonic,
  });
  const load = openLoadWatch(context, monotonic);
  const keys = keysReadiness(keyRing, [() => unreadableTokens.describe()]);
  const checks = {
    keys,
    vendors: () => deliveries.readiness(),
    files: () => files.look(),
    load: () => load.look(),
  };
  return { readiness: new Readiness({ database: () => database.check(), ...checks }, log), load };
}

import type { Clock } from '@waxwing/service/lifecycle';
import type { RelayContext } from '../context.js';
import { LoadWatch } from './load-watch.js';

type LoadContext = Pick<
  RelayContext,
  'clock' | 'database' | 'deliveries' | 'metrics' | 'quotas' | 'recentDeliveries'
>;

/** Creates the load watch of a relay. */
export function openLoadWatch(context: LoadContext, monotonic: Clock): LoadWatch {
  const { clock, database, metrics, quotas, recentDeliveries } = context;
  return new LoadWatch({
    clock,
    monotonic,
    quotas,
    deliveries: recentDeliveries,
    pushServices: () => context.deliveries.pushServices(),
    async refusals() {
      const { values } = await metrics.httpRefusals.get();
      return new Map(values.map(({ labels: { reason }, value }) => [String(reason), value]));
    },
    oldestDueAt: () => database.jobs.oldestDueAt(),
    logBytes: () => database.logBytes(),
  });
}

import type { Metrics } from '@waxwing/service/metrics';
import type { ServerQuotas } from './server-quotas.js';

const shownServers = 10;

/** Exports the quota usage of the ten busiest servers at each scrape. The cap limits the number of label values. */
export function watchBusiestServers(metrics: Metrics, quotas: ServerQuotas): void {
  const used = metrics.gauge(
    'waxwing_server_quota_used_ratio',
    'Used fraction of the quota of the ten busiest servers: 1 if it is used up',
    ['server'],
  );
  metrics.beforeScrape(async () => {
    used.reset();
    for (const { serverId, ratio } of quotas.busiest(shownServers)) used.set({ server: serverId }, ratio);
  });
}

import type { Metrics } from '@waxwing/service/metrics';
import type { LiveKeyRing } from './live/live-key-ring.js';

/**
 * Sets the key metrics at each scrape. With these metrics, operators can set up alerts for a key list that expires soon
 * or a rotation that fails.
 */
export function watchKeys(
  metrics: Metrics,
  keyRing: Pick<LiveKeyRing, 'describe' | 'publishedKeyList'>,
): void {
  const expiry = metrics.gauge(
    'waxwing_key_list_expiry_timestamp_seconds',
    'When the signed key list expires, in Unix seconds',
  );
  const issue = metrics.gauge(
    'waxwing_key_list_issue_timestamp_seconds',
    'When the signed key list was issued, in Unix seconds',
  );
  const primary = metrics.gauge(
    'waxwing_primary_key_timestamp_seconds',
    'When the current primary key became primary, in Unix seconds',
  );
  metrics.beforeScrape(async () => {
    const { issuedAt, expiresAt } = keyRing.publishedKeyList();
    expiry.set(expiresAt / 1000);
    issue.set(issuedAt / 1000);
    primary.set(keyRing.describe().primarySince / 1000);
  });
}

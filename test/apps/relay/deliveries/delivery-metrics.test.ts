import { Metrics } from '@waxwing/service/metrics';
import { expect, it } from 'vitest';
import { DeliveryMetrics } from '#relay/deliveries/delivery-metrics.js';

it('counts a sent notification once, however often the metrics are read', async () => {
  const metrics = new Metrics();
  const deliveries = new DeliveryMetrics(metrics);
  const sent = async (vendor: string) => {
    const line = `waxwing_deliveries_total{vendor="${vendor}",outcome="sent",reason=""} `;
    return (await metrics.text()).split(line)[1]?.split('\n', 1)[0];
  };
  expect([await sent('fcm'), await sent('apns')]).toEqual(['0', '0']);
  deliveries.countSent('fcm');
  deliveries.countSent('apns');
  deliveries.countSent('apns');
  expect([await sent('fcm'), await sent('apns')]).toEqual(['1', '2']);
  deliveries.countSent('apns');
  deliveries.count('apns', 'sent', { kind: 'accepted' });
  expect([await sent('fcm'), await sent('fcm'), await sent('apns')]).toEqual(['1', '1', '4']);
});

import { Metrics } from '@waxwing/service/metrics';
import { expect, it } from 'vitest';
import { DeliveryMetrics } from '#relay/deliveries/delivery-metrics.js';

it('counts a sent notification once, regardless of the number of scrapes', async () => {
  const metrics = new Metrics();
  const deliveries = new DeliveryMetrics(metrics);
  const sent = async (vendor: string) => {
    const line = `waxwing_deliveries_total{vendor="${vendor}",outcome="sent",reason=""} `;
    return (await metrics.text()).split(line)[1]?.split('\n', 1)[0];
  };
  expect([await sent('fcm'), await sent('apns')]).toEqual(['0', '0']);
  deliveries.countSent('fcm', 50);
  deliveries.countSent('apns', 2000);
  deliveries.countSent('apns', 2000);
  expect([await sent('fcm'), await sent('apns')]).toEqual(['1', '2']);
  deliveries.countSent('apns', 2000);
  deliveries.count('apns', 'sent', { kind: 'accepted' });
  expect([await sent('fcm'), await sent('fcm'), await sent('apns')]).toEqual(['1', '1', '4']);
});

it('measures the delivery time, and counts a negative time as zero', async () => {
  const metrics = new Metrics();
  const deliveries = new DeliveryMetrics(metrics);
  for (const milliseconds of [-5, 50, 2000]) deliveries.countSent('fcm', milliseconds);
  const lines = (await metrics.text())
    .split('\n')
    .filter((line) => line.startsWith('waxwing_delivery_seconds'));
  expect(lines).toEqual(
    expect.arrayContaining([
      'waxwing_delivery_seconds_bucket{le="0.01",vendor="fcm"} 1',
      'waxwing_delivery_seconds_bucket{le="0.1",vendor="fcm"} 2',
      'waxwing_delivery_seconds_bucket{le="3",vendor="fcm"} 3',
      'waxwing_delivery_seconds_sum{vendor="fcm"} 2.05',
    ]),
  );
});

import { expect, it, onTestFinished } from 'vitest';
import { fcmRequest, startDeliveriesUnderTest } from './deliveries-under-test.js';
import { WebPushPhone } from './web-push-phone.js';

it('a push service that the apps file does not list is a configuration fault, and its device is kept', async () => {
  const entry = { name: 'web', contact: 'mailto:operator@relay.example', hosts: ['push.example'] };
  const relay = await startDeliveriesUnderTest({ apps: () => ({ webpush: [entry] }) });
  onTestFinished(() => relay.close());
  const id = await relay.addWebPush(new WebPushPhone('https://other.example/push/a').token);
  const { body } = await relay.notify([fcmRequest(id)]);
  const notServed = { reason: 'HOST_NOT_SERVED', fault: 'relay-configuration' };
  expect(body.results).toMatchObject([{ status: 'rejected', ...notServed }]);
  expect(body.delete_device_ids).toEqual([]);
  expect((await relay.device(id)).expired_at).toBeNull();
  expect(relay.log.lines()).toContainEqual(expect.objectContaining({ level: 'error', ...notServed }));
  expect(await relay.metrics.text()).toContain(
    'waxwing_deliveries_total{vendor="webpush",outcome="rejected",reason="HOST_NOT_SERVED"} 1',
  );
});

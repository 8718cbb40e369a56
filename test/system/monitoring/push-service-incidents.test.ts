import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startVendors } from '@waxwing/vendors';
import { expect, it, onTestFinished } from 'vitest';
import { fcmRequest } from '../../apps/relay/deliveries/deliveries-under-test.js';
import { WebPushPhone } from '../../apps/relay/deliveries/web-push-phone.js';
import { CuttableProxy } from '../../support/cuttable-proxy.js';
import { undergo } from './undergo.js';
import { watchRelay } from './watched-relay.js';

it('the relay’s dashboard and one to five log lines explain push services that stop responding', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'waxwing-push-services-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const vendors = await startVendors({ dataDir, clock: () => Date.UTC(2026, 0, 5, 12) });
  onTestFinished(() => vendors.close());
  const { hostname: host, port } = new URL(vendors.urls.webPush);
  const proxies = Array.from({ length: 5 }, () => new CuttableProxy({ host, port: Number(port) }));
  for (const proxy of proxies) await proxy.open();
  onTestFinished(async () => {
    for (const proxy of proxies) await proxy.cut();
  });
  const hosts = proxies.map((proxy) => `${host}:${proxy.port}`);
  const relay = await watchRelay({
    vendors,
    apps: () => ({ webpush: [{ name: 'web', contact: 'mailto:operator@relay.example', hosts }] }),
    environment: {
      RELAY_CA_FILE: vendors.credentials.caFile,
      RELAY_WEB_PUSH_PRIVATE_HOSTS: hosts.join(','),
    },
  });
  onTestFinished(() => relay.close());
  const requests = await Promise.all(
    hosts.map(async (each) =>
      fcmRequest(await relay.addWebPush(new WebPushPhone(`https://${each}/push/a`).token)),
    ),
  );
  const counts = async () => {
    const text = await relay.metrics.text();
    return [...text.matchAll(/waxwing_push_services\{state="(\w+)"\} (\d+)/g)].map(
      ([, state, count]) => `${count} ${state}`,
    );
  };
  await undergo(relay, {
    check: 'push services',
    alert: 'WaxwingPushServicesHeldBack',
    cause: /Most Web Push services have stopped answering/,
    async begin() {
      const { body } = await relay.notify(requests);
      expect(body.results.map(({ status }: { status: string }) => status)).toEqual(hosts.map(() => 'sent'));
      expect(await counts()).toEqual(['5 answering', '0 held_back', '0 unproven']);
      for (const proxy of proxies) await proxy.cut();
      for (let failures = 0; failures < 3; failures += 1) await relay.notify(requests);
      await relay.pass(2);
      expect(await counts()).toEqual(['0 answering', '5 held_back', '0 unproven']);
      return async () => {
        for (const proxy of proxies) await proxy.open();
      };
    },
  });
  expect(await counts()).toContain('5 answering');
});

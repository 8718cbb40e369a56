import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRelayEnvironment } from '@waxwing/relay';
import { ConfigurationError } from '@waxwing/service/config';
import { startVendors } from '@waxwing/vendors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startConnectProxy } from '../../../support/connect-proxy.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  fcmRequest,
  startDeliveriesUnderTest,
} from './deliveries-under-test.js';
import { WebPushPhone } from './web-push-phone.js';

let proxy: Awaited<ReturnType<typeof startConnectProxy>>;
beforeAll(async () => {
  proxy = await startConnectProxy();
});
afterAll(() => proxy.close());

async function withProxy(url: string, use: (relay: DeliveriesUnderTest) => Promise<void>): Promise<void> {
  const relay = await startDeliveriesUnderTest({ environment: { RELAY_PROXY: url } });
  try {
    await use(relay);
  } finally {
    await relay.close();
  }
}

describe('a relay with RELAY_PROXY', () => {
  it('connects to APNs, FCM and Google’s OAuth server only through the proxy', async () => {
    await withProxy(proxy.url.replace('//', '//user:hunter%202@'), async (relay) => {
      const ids = [await relay.addFcm('token'), await relay.addApns(apnsToken(1))] as const;
      const { body } = await relay.notify([fcmRequest(ids[0]), apnsRequest(ids[1])]);
      expect(body).toMatchObject({ results: [{ status: 'sent' }, { status: 'sent' }] });
      const { fcm, apnsProduction } = relay.vendors.urls;
      const hosts = [fcm, apnsProduction].map((url) => new URL(url).host);
      expect(new Set(proxy.tunnels.map(({ to }) => to))).toEqual(new Set(hosts));
      expect(proxy.tunnels).toHaveLength(3);
      const credentials = `Basic ${btoa('user:hunter 2')}`;
      expect(proxy.tunnels.every((tunnel) => tunnel.credentials === credentials)).toBe(true);
      expect(relay.log.text()).not.toContain('hunter');
    });
  });

  it('queues notifications and logs the response while the proxy refuses tunnels', async () => {
    await withProxy(proxy.url, async (relay) => {
      const ids = [await relay.addFcm('other'), await relay.addApns(apnsToken(2))] as const;
      const { body } = await relay.notify([fcmRequest(ids[0]), apnsRequest(ids[1])]);
      expect(body).toMatchObject({ results: [{ status: 'queued' }, { status: 'queued' }] });
      const lines = relay.log.text();
      for (const url of [relay.vendors.urls.fcm, relay.vendors.urls.apnsProduction]) {
        const { host } = new URL(url);
        expect(lines).toContain(
          `cannot be reached: the proxy of RELAY_PROXY answers 407 to CONNECT ${host};`,
        );
      }
    });
  });

  it('connects through the proxy only to listed push services, by name', async () => {
    const vendors = await startVendors({ dataDir: mkdtempSync(join(tmpdir(), 'waxwing-proxied-')) });
    const { host, port } = new URL(vendors.urls.webPush);
    const entry = { name: 'web', contact: 'mailto:operator@relay.example', hosts: [`localhost:${port}`] };
    const relay = await startDeliveriesUnderTest({
      vendors,
      apps: () => ({ webpush: [entry] }),
      environment: {
        RELAY_PROXY: proxy.url.replace('//', '//user:hunter%202@'),
        RELAY_CA_FILE: vendors.credentials.caFile,
      },
    });
    try {
      const before = proxy.tunnels.length;
      const send = async (endpoint: string) => {
        const id = await relay.addWebPush(new WebPushPhone(endpoint).token);
        return (await relay.notify([fcmRequest(id)])).body.results[0];
      };
      expect(await send(`https://localhost:${port}/push/a`)).toMatchObject({ status: 'sent' });
      expect(await send(`https://${host}/push/a`)).toMatchObject({ reason: 'ENDPOINT_REFUSED' });
      expect(proxy.tunnels.slice(before).map(({ to }) => to)).toEqual([`localhost:${port}`]);

      relay.writeApps({ webpush: [{ ...entry, hosts: '*' }] });
      await expect(relay.reloadCredentials()).rejects.toThrow('the proxy of RELAY_PROXY looks up names');
    } finally {
      await relay.close();
      await vendors.close();
    }
  });

  it('logs that it cannot reach the proxy', async () => {
    await withProxy('http://127.0.0.1:1', async (relay) => {
      await relay.notify([apnsRequest(await relay.addApns(apnsToken(3)))]);
      expect(relay.log.text()).toContain('the proxy of RELAY_PROXY cannot be reached: nothing listens there');
    });
  });

  it.each(['socks5://user:hunter2@127.0.0.1', 'http://user:hunter2%@127.0.0.1:3128', 'hunter2'])(
    'rejects a setting that is not the URL of a proxy, without showing it: %s',
    (url) => {
      const read = () => readRelayEnvironment({ RELAY_PROXY: url });
      expect(read).toThrow(ConfigurationError);
      expect(read).toThrow(/RELAY_PROXY is not the URL of an HTTP proxy, and is not shown/);
      expect(read).not.toThrow(/hunter2/);
    },
  );
});

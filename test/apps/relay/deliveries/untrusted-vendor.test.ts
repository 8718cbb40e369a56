import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startVendors } from '@waxwing/vendors';
import { describe, expect, it, onTestFinished } from 'vitest';
import { apnsRequest, apnsToken, fcmRequest, startDeliveriesUnderTest } from './deliveries-under-test.js';

describe('a vendor whose TLS handshake fails', () => {
  it('gets no request, and the log has the reason', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'waxwing-untrusted-'));
    const vendors = await startVendors({ dataDir: dir });
    onTestFinished(async () => {
      await vendors.close();
      rmSync(dir, { recursive: true });
    });
    const relay = await startDeliveriesUnderTest({
      vendors,
      environment: { RELAY_APNS_CA_FILE: undefined, RELAY_FCM_BASE_URL: vendors.urls.apnsSandbox },
      timings: { delayDivisor: 1, requestBudgetMilliseconds: 50_000 },
    });
    onTestFinished(() => relay.close());
    const { notify, addFcm, addApns, log } = relay;
    const { body } = await notify([
      fcmRequest(await addFcm('fcm-1')),
      apnsRequest(await addApns(apnsToken())),
    ]);
    expect(body.results).toMatchObject([
      { status: 'queued', reason: 'NOT_CONNECTED' },
      { status: 'queued', reason: 'NOT_CONNECTED' },
    ]);
    const said = log.lines().filter(({ msg }) => /cannot be reached/.test(String(msg)));
    expect(said).toHaveLength(2);
    const urls = said.map(({ msg }) => String(msg).split(' ')[0]);
    expect(urls.sort()).toEqual([vendors.urls.apnsProduction, vendors.urls.apnsSandbox].sort());
    for (const { level, msg } of said) {
      expect(level).toBe('error');
      expect(msg).toMatch(/certificate|SSL alert/);
    }
  });

  it('is reachable after a reload once the file has its CA', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'waxwing-untrusted-'));
    const other = await startVendors({ dataDir: join(dir, 'other') });
    await other.close();
    const file = join(dir, 'authorities.pem');
    const trust = (ca: string): void => writeFileSync(file, readFileSync(ca));
    trust(other.credentials.caFile);
    const relay = await startDeliveriesUnderTest({
      environment: { RELAY_APNS_CA_FILE: file },
      timings: { delayDivisor: 1 },
    });
    onTestFinished(async () => {
      await relay.close();
      rmSync(dir, { recursive: true });
    });
    const { notify, addApns, vendors, deliveries } = relay;
    const outcome = async () => {
      const { body } = await notify([apnsRequest(await addApns(apnsToken()))]);
      return body.results[0]?.status;
    };
    expect(await outcome()).toBe('queued');
    writeFileSync(file, 'no certificate');
    await expect(deliveries.reloadCredentials()).rejects.toThrow('contains no PEM certificate');
    trust(vendors.credentials.caFile);
    await deliveries.reloadCredentials();
    expect(await outcome()).toBe('sent');
  });
});

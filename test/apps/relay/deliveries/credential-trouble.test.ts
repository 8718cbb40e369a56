import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { relayDeviceId } from '../../../support/ids.js';
import {
  apnsRequest,
  apnsToken,
  appsFor,
  type DeliveriesUnderTest,
  fcmRequest,
  type RunningVendors,
  startDeliveriesUnderTest,
  until,
} from './deliveries-under-test.js';

let relay: DeliveriesUnderTest | undefined;
afterEach(async () => {
  await relay?.close();
  relay = undefined;
});

describe('a wrong FCM service account', () => {
  it('pauses the queue without deleting devices until the file is fixed, without a restart', async () => {
    let wrongFile = '';
    relay = await startDeliveriesUnderTest({
      apps: (vendors) => {
        wrongFile = writeServiceAccount(vendors, { private_key: otherKey('rsa') });
        return { ...appsFor(vendors), fcm: [{ service_account_file: wrongFile }] };
      },
    });
    const { notify, addFcm, addApns, ready, vendors, device, settled, metrics, database } = relay;
    const id = await addFcm('fcm-1');
    const { body } = await notify([fcmRequest(id), fcmRequest(id), apnsRequest(await addApns(apnsToken()))]);
    expect(body.results.map(({ status }) => status)).toEqual(['queued', 'queued', 'sent']);
    expect(body.results[0]?.reason).toBe('OAUTH_REFUSED');
    expect((await device(id)).expired_at).toBeNull();
    const { ready: isReady, checks } = await ready();
    // The relay is ready, because it still delivers to the app for Apple.
    expect(isReady).toBe(true);
    expect(checks.vendors).toMatch(/^warning: /);
    expect(checks.vendors).toContain(wrongFile);
    expect(checks.vendors).toContain('OAUTH_REFUSED');
    expect(await metrics.text()).toContain('kind="credential"} 1');
    const stored = await database.db.selectFrom('app_breakers').selectAll().execute();
    expect(stored).toMatchObject([{ kind: 'credential', app: `fcm:${vendors.credentials.fcmProjectId}` }]);

    writeFileSync(wrongFile, readFileSync(vendors.credentials.serviceAccountFile));
    for (const { notification_id } of body.results.slice(0, 2)) {
      expect(await settled(notification_id)).toMatchObject({ status: 'sent' });
    }
    expect((await ready()).checks.vendors).toBe('ok');
    expect(await metrics.text()).not.toContain('kind="credential"} 1');
    expect(await database.db.selectFrom('app_breakers').selectAll().execute()).toEqual([]);
    expect(await relay.arrived('fcm-1')).toHaveLength(2);
  });
});

describe('an FCM service account without permission for the project', () => {
  it('counts against the credential, not against tokens', async () => {
    relay = await startDeliveriesUnderTest({
      apps: (vendors) => ({
        fcm: [
          { project: 'some-other-project', service_account_file: vendors.credentials.serviceAccountFile },
        ],
      }),
    });
    const id = await relay.addFcm('fcm-1');
    const { body } = await relay.notify([fcmRequest(id)]);
    expect(body.results[0]).toMatchObject({ status: 'queued', reason: 'PERMISSION_DENIED' });
    const { ready, checks } = await relay.ready();
    // The relay is not ready, because it does not serve any other app.
    expect(ready).toBe(false);
    expect(checks.vendors).toContain('some-other-project');
  });
});

describe('a revoked APNs key', () => {
  it('pauses the queue except for single probes until Apple accepts the key again', async () => {
    relay = await startDeliveriesUnderTest({ timings: { delayDivisor: 200 } });
    const { notify, addApns, faults, statistics, ready, settled, device } = relay;
    await faults([{ vendor: 'apns', reason: 'InvalidProviderToken' }]);
    const ids = await Promise.all(Array.from({ length: 50 }, (_, index) => addApns(apnsToken(index))));
    const first = await notify([apnsRequest(ids[0] ?? 0)]);
    expect(first.body.results[0]).toMatchObject({ status: 'queued', reason: 'InvalidProviderToken' });
    const { body } = await notify(ids.map((id) => apnsRequest(id)));
    expect(body.results.every(({ status }) => status === 'queued')).toBe(true);
    expect((await ready()).checks.vendors).toMatch(/the APNs key \w+ of team \w+ .*InvalidProviderToken/);
    const requests = async () => {
      const { apns } = await statistics();
      return apns.production.requests;
    };
    const before = await requests();
    // While 51 notifications wait, the relay sends only single probes.
    await until(async () => (await requests()) >= before + 3);
    expect(await requests()).toBeLessThan(before + 30);
    await faults([]);
    for (const { notification_id } of body.results)
      expect(await settled(notification_id)).toMatchObject({ status: 'sent' });
    expect((await ready()).checks.vendors).toBe('ok');
    expect((await device(ids[0] ?? relayDeviceId(0))).expired_at).toBeNull();
  });

  it('can be replaced with another key file, which the next probe uses', async () => {
    let keyFile = '';
    relay = await startDeliveriesUnderTest({
      apps: (vendors) => {
        keyFile = join(vendors.credentials.apnsKeyFile, '..', 'wrong.p8');
        writeFileSync(keyFile, otherKey('ec'), { mode: 0o600 });
        const [apns] = appsFor(vendors).apns;
        return { apns: [{ ...apns, key_file: keyFile }] };
      },
    });
    const { notify, addApns, settled, vendors } = relay;
    const { body } = await notify([apnsRequest(await addApns(apnsToken()))]);
    expect(body.results[0]).toMatchObject({ status: 'queued', reason: 'InvalidProviderToken' });
    writeFileSync(keyFile, readFileSync(vendors.credentials.apnsKeyFile));
    expect(await settled(body.results[0]?.notification_id)).toMatchObject({ status: 'sent' });
  });
});

describe('an apps file that becomes invalid while the relay runs', () => {
  it('leaves the previous version in use, with one log line', async () => {
    relay = await startDeliveriesUnderTest();
    const { notify, addApns, faults, settled, writeApps, log } = relay;
    await faults([{ vendor: 'apns', reason: 'InvalidProviderToken', times: 3 }]);
    writeApps({ apns: 'nonsense' });
    const { body } = await notify([apnsRequest(await addApns(apnsToken()))]);
    expect(await settled(body.results[0]?.notification_id)).toMatchObject({ status: 'sent' });
    expect(log.text().split('the previous one stays in use')).toHaveLength(2);
  });
});

function writeServiceAccount(vendors: RunningVendors, changes: object): string {
  const file = join(vendors.credentials.serviceAccountFile, '..', 'wrong-account.json');
  const account = JSON.parse(readFileSync(vendors.credentials.serviceAccountFile, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...account, ...changes }), { mode: 0o600 });
  return file;
}

function otherKey(type: 'rsa' | 'ec'): string {
  const { privateKey } =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

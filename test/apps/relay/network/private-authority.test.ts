import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { startVendors, type Vendors } from '@waxwing/vendors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTlsIdentity, type TlsIdentity } from '#vendors/credentials/make-certificate.js';
import {
  apnsRequest,
  apnsToken,
  fcmRequest,
  startDeliveriesUnderTest,
} from '../deliveries/deliveries-under-test.js';
import { startRelayUnderTest } from '../relay-under-test.js';

const dir = mkdtempSync(join(tmpdir(), 'waxwing-private-authority-'));
const caFile = join(dir, 'ca.pem');
const remedy = 'for a private certificate authority, set RELAY_CA_FILE to its PEM file';
let identity: TlsIdentity;
let otherCa: string;
let vendors: Vendors;
beforeAll(async () => {
  identity = await makeTlsIdentity(['127.0.0.1']);
  otherCa = (await makeTlsIdentity(['127.0.0.1'])).ca;
  vendors = await startVendors({ dataDir: join(dir, 'vendors') });
});
afterAll(async () => {
  await vendors.close();
  rmSync(dir, { recursive: true });
});

describe('a certificate of a private authority', () => {
  it('is trusted for a TLS-inspecting proxy and for a vendor after RELAY_CA_FILE is reloaded', async () => {
    const { certificate: cert, privateKey: key } = identity;
    const inspecting = createTlsServer({ cert, key }, (socket) => {
      const target = connect(Number(new URL(vendors.urls.fcm).port), '127.0.0.1');
      socket
        .on('error', () => target.destroy())
        .pipe(target)
        .on('error', () => socket.destroy())
        .pipe(socket);
    });
    inspecting.on('tlsClientError', () => undefined);
    await once(inspecting.listen(0, '127.0.0.1'), 'listening');
    const fcm = `https://127.0.0.1:${(inspecting.address() as AddressInfo).port}`;
    writeFileSync(caFile, otherCa);
    const environment = { RELAY_FCM_BASE_URL: fcm, RELAY_APNS_CA_FILE: undefined, RELAY_CA_FILE: caFile };
    const relay = await startDeliveriesUnderTest({ vendors, environment });
    try {
      const ids = [await relay.addFcm('token'), await relay.addApns(apnsToken(1))] as const;
      const { body } = await relay.notify([fcmRequest(ids[0]), apnsRequest(ids[1])]);
      expect(body.results).toMatchObject([{ status: 'queued' }, { status: 'queued' }]);
      for (const url of [fcm, vendors.urls.apnsProduction]) {
        expect(relay.log.text()).toMatch(new RegExp(`${url} cannot be reached: [^"]*: ${remedy}`));
      }
      writeFileSync(caFile, `${identity.ca}\n${readFileSync(vendors.credentials.caFile, 'utf8')}`);
      await relay.reloadCredentials();
      for (const { notification_id: id } of body.results) {
        expect(await relay.settled(id)).toMatchObject({ status: 'sent' });
      }
      writeFileSync(caFile, 'none');
      await expect(relay.reloadCredentials()).rejects.toThrow('RELAY_CA_FILE');
    } finally {
      await relay.close();
      inspecting.close();
    }
  });

  it('is trusted for a server’s host after RELAY_CA_FILE is reloaded, and only the log names the setting', async () => {
    const { certificate: cert, privateKey: key } = identity;
    const host = createServer({ cert, key }, (_request, response) => void response.end('{}'));
    await once(host.listen(0, '127.0.0.1'), 'listening');
    const hostname = `127.0.0.1:${(host.address() as AddressInfo).port}`;
    writeFileSync(caFile, otherCa);
    const environment = { RELAY_SERVER_REGISTRATION_PRIVATE_HOSTS: 'on', RELAY_CA_FILE: caFile };
    const relay = await startRelayUnderTest(`sqlite:${join(dir, 'relay.sqlite')}`, environment);
    try {
      const ask = () => relay.context.joining.askHost(hostname, '/');
      await expect(ask()).rejects.toThrow('SSL error occurred while communicating with the host.');
      expect(relay.logged()).toMatch(new RegExp(`The host ${hostname} cannot be verified: [^"]*: ${remedy}`));
      writeFileSync(caFile, identity.ca);
      await relay.reloadCredentials();
      expect(await ask()).toEqual({ status: 200, text: '{}' });
    } finally {
      await relay.close();
      host.close();
    }
  });
});

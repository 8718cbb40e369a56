import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { RelayAccount } from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CurrentRelay } from '#server-push/current-relay.js';
import type { ServerPushOptions } from '#server-push/server-push-options.js';
import { makeTlsIdentity } from '#vendors/credentials/make-certificate.js';

let relay: Server;
let url: string;
let ca: string;
let otherCa: string;
beforeAll(async () => {
  const identity = await makeTlsIdentity(['127.0.0.1']);
  ca = identity.ca;
  otherCa = (await makeTlsIdentity(['127.0.0.1'])).ca;
  const { certificate: cert, privateKey: key } = identity;
  relay = createServer({ cert, key }, (_request, response) => void response.end('{}'));
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  url = `https://127.0.0.1:${(relay.address() as AddressInfo).port}`;
});
afterAll(() => void relay.close());

function account(authorities: string, serverKey = 'key'): RelayAccount {
  const network = { authorities, authoritiesSetting: 'SERVER_RELAY_CA_FILE' };
  return { kind: 'configured', url, serverId: 'id', serverKey: new Secret(serverKey), network };
}

it('new CA certificates take effect with the next request', async () => {
  // Only the options that a probe reads.
  const options = { relay: account(otherCa), clock: Date.now, realm: { uuid: 'x' } };
  const monitor = { report: async () => undefined, setConfigured: () => undefined };
  const records = { monitor, results: {} };
  const current = new CurrentRelay(options as unknown as ServerPushOptions, records as never);
  const probe = () => current.connection?.link.probe();
  try {
    const untrusted = { step: 'tls', remedy: expect.stringContaining('set SERVER_RELAY_CA_FILE') };
    expect(await probe()).toMatchObject(untrusted);
    const { connection } = current;
    current.use(account(otherCa, 'other key'));
    expect(current.connection).toBe(connection);
    current.use(account(ca));
    expect(await probe()).toMatchObject({ status: 200 });
    current.use(account(otherCa));
    expect(await probe()).toMatchObject(untrusted);
  } finally {
    await current.close();
  }
});

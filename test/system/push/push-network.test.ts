import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, type Server } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTlsIdentity } from '#vendors/credentials/make-certificate.js';
import { startConnectProxy } from '../../support/connect-proxy.js';
import { PushWorld } from './push-world.js';

let world: PushWorld;
let tlsUrl: string;
let proxy: Awaited<ReturnType<typeof startConnectProxy>>;
let caFile: string;
const listeners: Server[] = [];

beforeAll(async () => {
  world = await PushWorld.create();
  await world.addUser('ada');
  const { certificate, privateKey, ca } = await makeTlsIdentity(['127.0.0.1']);
  const terminating = createTlsServer({ cert: certificate, key: privateKey }, (socket) => {
    socket.pipe(connect(world.relayPort, '127.0.0.1').on('error', () => socket.destroy())).pipe(socket);
    socket.on('error', () => undefined);
  });
  terminating.on('tlsClientError', () => undefined);
  tlsUrl = `https://127.0.0.1:${await listening(terminating)}`;
  caFile = join(world.dir, 'ca.pem');
  writeFileSync(caFile, ca);
  proxy = await startConnectProxy();
}, 60_000);
afterAll(async () => {
  proxy.close();
  for (const listener of listeners) listener.close();
  await world.close();
});

async function listening(server: Server): Promise<number> {
  listeners.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('push commands through a proxy, with a certificate from a private authority', () => {
  it('reach the relay only through the proxy, with SERVER_RELAY_CA_FILE and SERVER_RELAY_PROXY', async () => {
    const settings = {
      SERVER_RELAY_CA_FILE: caFile,
      SERVER_RELAY_PROXY: proxy.url.replace('//', '//user:hunter2@'),
    };
    const enable = ['push', 'enable', '--relay', tlsUrl, '--invitation', await world.invite()];
    const joined = await world.runJson<{ created: boolean }>(enable, settings);
    expect(joined.created).toBe(true);
    const { code, checks } = await world.status(settings);
    expect([code, checks.filter(({ ok }) => !ok)]).toEqual([0, []]);
    expect(new Set(proxy.tunnels.map(({ to }) => `https://${to}`))).toEqual(new Set([tlsUrl]));
    expect(proxy.tunnels.every(({ credentials }) => credentials === `Basic ${btoa('user:hunter2')}`)).toBe(
      true,
    );
    expect(world.pushOutput.join()).not.toContain('hunter2');
  });

  it('name SERVER_RELAY_PROXY if the proxy’s password is missing', async () => {
    const { checks } = await world.status({
      SERVER_RELAY_CA_FILE: caFile,
      SERVER_RELAY_PROXY: proxy.url,
    });
    expect(checks.find(({ ok }) => !ok)).toMatchObject({
      check: 'connection',
      cause: expect.stringContaining('the proxy answers 407'),
      remedy: expect.stringContaining('SERVER_RELAY_PROXY'),
    });
  });

  it('name SERVER_RELAY_CA_FILE if the authority is not trusted', async () => {
    const { checks } = await world.status({ SERVER_RELAY_PROXY: proxy.url.replace('//', '//user:hunter2@') });
    expect(checks.find(({ ok }) => !ok)).toMatchObject({
      check: 'tls',
      remedy: expect.stringContaining('SERVER_RELAY_CA_FILE'),
    });
  });
});

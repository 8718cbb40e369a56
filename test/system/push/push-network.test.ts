import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTlsIdentity } from '#vendors/credentials/make-certificate.js';
import { PushWorld } from './push-world.js';

let world: PushWorld;
let tlsUrl: string;
let proxyUrl: string;
let caFile: string;
/** What the proxy was asked to connect to, with which credentials. */
const tunnels: { readonly to: string; readonly credentials: string | undefined }[] = [];
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
  const proxy = createHttpServer((_request, response) => void response.writeHead(400).end());
  proxy.on('connect', ({ url = '', headers }, socket) => {
    tunnels.push({ to: url, credentials: headers['proxy-authorization'] });
    if (headers['proxy-authorization'] === undefined) {
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
    }
    const [host, port] = url.split(':');
    const relay = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      socket.pipe(relay).pipe(socket);
    });
    for (const end of [relay, socket]) end.on('error', () => undefined);
  });
  proxyUrl = `http://127.0.0.1:${await listening(proxy)}`;
}, 60_000);
afterAll(async () => {
  for (const listener of listeners) listener.close();
  await world.close();
});

async function listening(server: Server): Promise<number> {
  listeners.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('a relay behind a proxy, with a certificate of a private authority', () => {
  it('is joined with SERVER_RELAY_CA_FILE and SERVER_RELAY_PROXY, all of it through the proxy', async () => {
    const settings = {
      SERVER_RELAY_CA_FILE: caFile,
      SERVER_RELAY_PROXY: proxyUrl.replace('//', '//user:hunter2@'),
    };
    const enable = ['push', 'enable', '--relay', tlsUrl, '--invitation', await world.invite()];
    const joined = await world.runJson<{ created: boolean }>(enable, settings);
    expect(joined.created).toBe(true);
    const { code, checks } = await world.status(settings);
    expect([code, checks.filter(({ ok }) => !ok)]).toEqual([0, []]);
    expect(new Set(tunnels.map(({ to }) => `https://${to}`))).toEqual(new Set([tlsUrl]));
    expect(tunnels.every(({ credentials }) => credentials === `Basic ${btoa('user:hunter2')}`)).toBe(true);
    expect(world.pushOutput.join()).not.toContain('hunter2');
  });

  it('is not reached without the password of the proxy, which is named', async () => {
    const { checks } = await world.status({
      SERVER_RELAY_CA_FILE: caFile,
      SERVER_RELAY_PROXY: proxyUrl,
    });
    expect(checks.find(({ ok }) => !ok)).toMatchObject({
      check: 'connection',
      cause: expect.stringContaining('the proxy answers 407'),
      remedy: expect.stringContaining('SERVER_RELAY_PROXY'),
    });
  });

  it('is not trusted without the setting, which is named', async () => {
    const { checks } = await world.status({ SERVER_RELAY_PROXY: proxyUrl.replace('//', '//user:hunter2@') });
    expect(checks.find(({ ok }) => !ok)).toMatchObject({
      check: 'tls',
      remedy: expect.stringContaining('SERVER_RELAY_CA_FILE'),
    });
  });
});

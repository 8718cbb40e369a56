import { readFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { get } from 'node:https';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  ApnsClient,
  deviceToken,
  getStatistics,
  startTestVendors,
  type TestVendors,
} from './vendor-clients.js';

describe('a connection to APNs', () => {
  let test: TestVendors;
  let ca: Buffer;
  const clients: ApnsClient[] = [];

  beforeAll(async () => {
    test = await startTestVendors();
    ca = await readFile(test.vendors.credentials.caFile);
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });
  afterAll(() => test.close());

  async function connectClient(environment?: 'production' | 'sandbox'): Promise<ApnsClient> {
    const client = await ApnsClient.connect(test, environment);
    clients.push(client);
    return client;
  }

  function handshake(options: ConnectionOptions): Promise<TLSSocket> {
    const { hostname, port } = new URL(test.vendors.urls.apnsProduction);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), ca, ...options }, () => resolve(socket));
      socket.once('error', reject);
    });
  }

  it.each(['localhost', '127.0.0.1'])('to %s is trusted by a client with the CA file', async (host) => {
    const { port } = new URL(test.vendors.urls.apnsProduction);
    const session = connectHttp2(`https://${host}:${port}`, { ca });
    await new Promise((resolve, reject) => session.once('connect', resolve).once('error', reject));
    expect((session.socket as TLSSocket).authorized).toBe(true);
    session.destroy();
  });

  it('is not trusted without the CA file or under another host name', async () => {
    await expect(handshake({ ca: [], ALPNProtocols: ['h2'] })).rejects.toThrow(/certificate/);
    await expect(handshake({ servername: 'apns.example', ALPNProtocols: ['h2'] })).rejects.toThrow(
      /altnames/,
    );
  });

  it('is closed if the client does not offer ALPN', async () => {
    const socket = await handshake({});
    expect(socket.alpnProtocol).toBe(false);
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    const received: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('close', resolve));
    expect(received).toEqual([]);
    expect(test.log.at(-1)).toBe('apns production: refused a connection that did not negotiate h2 by ALPN');
  });

  it('is refused in the handshake if the client offers only HTTP/1.1', async () => {
    await expect(handshake({ ALPNProtocols: ['http/1.1'] })).rejects.toThrow(/no application protocol/i);
    await expect(
      new Promise((resolve, reject) =>
        get(test.vendors.urls.apnsProduction, { ca }, resolve).on('error', reject),
      ),
    ).rejects.toThrow();
  });

  it('is refused if the client supports only TLS 1.1 or older', async () => {
    await expect(
      handshake({
        ALPNProtocols: ['h2'],
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1.1',
        ciphers: 'DEFAULT:@SECLEVEL=0',
      }),
    ).rejects.toThrow(/protocol version|unsupported protocol|handshake failure/i);
  });

  it('allows one stream until a request has succeeded, then 1,000', async () => {
    const client = await connectClient();
    expect(client.session.remoteSettings.maxConcurrentStreams).toBe(1);
    expect((await client.send(deviceToken, { authorization: undefined })).status).toBe(403);
    expect(client.session.remoteSettings.maxConcurrentStreams).toBe(1);
    expect((await client.send()).status).toBe(200);
    await client.waitForStreamLimit(1000);
    const answers = await Promise.all(Array.from({ length: 500 }, () => client.send()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(500);
  });

  it('refuses excess streams before the first request has succeeded', async () => {
    // Node's client obeys the limit once it has received the settings, so it must send these requests earlier.
    const { credentials, urls } = test.vendors;
    const session = connectHttp2(urls.apnsProduction, { ca: await readFile(credentials.caFile) });
    const codes = await Promise.all(
      Array.from({ length: 5 }, () => {
        const stream = session.request({ ':method': 'POST', ':path': `/3/device/${deviceToken}` });
        stream.on('error', () => {});
        stream.resume().end('{}');
        return new Promise((resolve) => stream.on('close', () => resolve(stream.rstCode)));
      }),
    );
    const refusedStream = 7;
    expect(codes).toEqual([0, refusedStream, refusedStream, refusedStream, refusedStream]);
    session.destroy();
  });

  it('resets a request whose body is too long', async () => {
    const client = await connectClient();
    await expect(client.send(deviceToken, {}, 'x'.repeat(2 * 1024 * 1024))).rejects.toThrow(
      /ENHANCE_YOUR_CALM/,
    );
    expect((await client.send()).status).toBe(200);
  });

  it('discards a request that the client cancels before it is complete', async () => {
    const client = await connectClient();
    const before = await getStatistics(test);
    const stream = client.session.request({ ':method': 'POST', ':path': `/3/device/${deviceToken}` });
    stream.write('{"aps":{}}');
    stream.close(8);
    await new Promise((resolve) => stream.once('close', resolve));
    expect((await client.send()).status).toBe(200);
    const after = await getStatistics(test);
    expect(after.deliveries.kept).toBe(before.deliveries.kept + 1);
  });

  it('counts toward the statistics of its environment', async () => {
    await connectClient('sandbox');
    const sandbox = await connectClient('sandbox');
    await sandbox.send();
    expect(await getStatistics(test)).toMatchObject({
      apns: {
        sandbox: { connections: 2, open_connections: 2, requests: 1, answers: { '200': 1 } },
        provider_tokens_accepted: expect.any(Number),
      },
    });
  });
});

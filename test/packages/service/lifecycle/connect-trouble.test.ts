import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describeConnectTrouble } from '@waxwing/service/lifecycle';
import { Agent, request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { makeTlsIdentity } from '#vendors/credentials/make-certificate.js';

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function listen(server: Server): Promise<number> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function listenWithTls(name: string) {
  const { certificate, privateKey, ca } = await makeTlsIdentity([name]);
  const server = createTlsServer({ cert: certificate, key: privateKey }, (socket) => socket.end());
  server.on('tlsClientError', () => undefined);
  return { port: await listen(server), ca };
}

async function troubleAt(url: string, ca?: string): Promise<string | undefined> {
  const dispatcher = new Agent(ca === undefined ? {} : { connect: { ca } });
  try {
    await request(url, { dispatcher });
    return 'none';
  } catch (error) {
    return describeConnectTrouble(error);
  } finally {
    await dispatcher.destroy();
  }
}

describe('a failed connection is explained in a sentence that says what to do', () => {
  it('for a certificate from an unknown authority', async () => {
    const { port } = await listenWithTls('127.0.0.1');
    expect(await troubleAt(`https://127.0.0.1:${port}`)).toMatch(
      /^its certificate is not from a certificate authority that this machine trusts \([A-Z_]+\): .* NODE_EXTRA_CA_CERTS /,
    );
  });

  it('for a certificate with another name', async () => {
    const { port, ca } = await listenWithTls('relay.example.org');
    expect(await troubleAt(`https://127.0.0.1:${port}`, ca)).toBe(
      'its certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID): use the name in the certificate, or get a certificate for this name',
    );
  });

  it('for a port without TLS', async () => {
    const port = await listen(createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    expect(await troubleAt(`https://127.0.0.1:${port}`)).toMatch(
      /^the service there does not use TLS \(ERR_SSL_/,
    );
  });

  it('for a port without a listener, and for an unknown name', async () => {
    const port = await listen(createServer());
    await Promise.all(servers.splice(0).map((server) => once(server.close(), 'close')));
    expect(await troubleAt(`http://127.0.0.1:${port}`)).toContain('nothing listens there (ECONNREFUSED): ');
    expect(await troubleAt('http://relay.invalid')).toMatch(/^its name cannot be resolved \(E[A-Z_]+\): /);
  });

  it.each([
    'CERT_HAS_EXPIRED',
    'CERT_NOT_YET_VALID',
    'CERT_REVOKED',
    'CERT_SIGNATURE_FAILURE',
    'CERT_UNTRUSTED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'HOSTNAME_MISMATCH',
    'INVALID_CA',
    'INVALID_PURPOSE',
    'PATH_LENGTH_EXCEEDED',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_GET_CRL',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'EPROTO',
    'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
    'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
    'ERR_TLS_HANDSHAKE_TIMEOUT',
  ])('for %s', (code) => {
    expect(describeConnectTrouble({ code })).toMatch(new RegExp(`^.{20,} \\(${code}\\): .{20,}$`));
  });

  it('unless the error has another cause', () => {
    expect(describeConnectTrouble(new SyntaxError('no JSON'))).toBeUndefined();
    expect(describeConnectTrouble(undefined)).toBeUndefined();
  });
});

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fetch } from '@waxwing/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeTlsIdentity } from '#vendors/credentials/make-certificate.js';
import { startRelayUnderTest } from '../../apps/relay/relay-under-test.js';
import { freePort } from '../../support/free-ports.js';
import { createPhone } from './phone.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

async function syncAt(realmUrl: string, fetch: Fetch = (url, init) => globalThis.fetch(url, init)) {
  const { client, server } = await createPhone({ fetch });
  return client.registrar({ realmUrl, userId: 10, email: server.email, apiKey: server.apiKey }).sync();
}

describe('The status of an unreachable server names the cause', () => {
  it('when its name does not resolve', async () => {
    const status = await syncAt('https://nobody.invalid');
    expect(status).toMatchObject({ code: 'unreachable', cause: 'dns' });
    expect(status.warning).toContain('its name cannot be resolved');
  });

  it('when nothing listens at its address', async () => {
    const status = await syncAt(`http://127.0.0.1:${await freePort()}`);
    expect(status).toMatchObject({ code: 'unreachable', cause: 'refused' });
    expect(status.warning).toContain('nothing listens there (ECONNREFUSED)');
  });

  it('when its certificate is not trusted', async () => {
    const { certificate: cert, privateKey: key } = await makeTlsIdentity(['127.0.0.1']);
    const server = createServer({ cert, key }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const status = await syncAt(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(status).toMatchObject({ code: 'unreachable', cause: 'tls' });
    expect(status.warning).toContain('its certificate is not trusted');
    server.close();
    await once(server, 'close');
  });

  it('when its https address serves plain http', async () => {
    const server = createPlainServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const status = await syncAt(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(status).toMatchObject({ code: 'unreachable', cause: 'tls' });
    expect(status.warning).toContain('the server does not use TLS, but possibly plain http');
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  it('when something other than a chat server responds', async () => {
    const status = await syncAt('https://chat.example.com', async () => new Response('<h1>Welcome</h1>'));
    expect(status).toMatchObject({ code: 'unreachable', cause: 'foreign-answer' });
    expect(status.sentence).toContain('Something other than the chat server');
  });

  it('when a relay responds', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'waxwing-unreachable-'));
    const relay = await startRelayUnderTest(`sqlite:${join(folder, 'relay.sqlite')}`);
    const url = await relay.app.listen({ host: '127.0.0.1', port: 0 });
    const status = await syncAt(url);
    expect(status).toMatchObject({ code: 'unreachable', cause: 'foreign-answer' });
    expect(status.sentence).toContain('Something other than the chat server');
    expect(status.warning).toBe(
      `The server at ${url} is not a chat server: realmUrl must be the address of the organization's server.`,
    );
    await relay.close();
    rmSync(folder, { recursive: true });
  });

  it('when it does not respond in time', async () => {
    vi.useFakeTimers();
    const never: Fetch = (_, { signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const status = syncAt('https://chat.example.com', never);
    await vi.advanceTimersByTimeAsync(30_000);
    await expect(status).resolves.toMatchObject({ code: 'unreachable', cause: 'timeout' });
    vi.useRealTimers();
  });

  it.each([
    ['is reachable, but not from another origin', true, 'https://app.example.com', 'cors'],
    ['is not reachable at all', false, 'https://app.example.com', 'network'],
    ['has the page’s own origin', true, 'https://chat.example.com', 'network'],
  ])('when it, in a browser, %s', async (_, isThere, origin, cause) => {
    vi.stubGlobal('location', { origin });
    const requests: RequestInit[] = [];
    const status = await syncAt('https://chat.example.com', async (_, init) => {
      requests.push(init);
      if (init.mode === 'no-cors' && isThere) return new Response('');
      throw new TypeError('Failed to fetch');
    });
    expect(status).toMatchObject({ code: 'unreachable', cause });
    expect(status.sentence).toContain(
      cause === 'cors' ? 'does not allow this page' : 'continues when it can be reached again',
    );
    const probes = requests.filter(({ mode }) => mode === 'no-cors');
    expect(probes.map(({ headers, credentials }) => [headers, credentials])).toEqual(
      origin === 'https://chat.example.com' ? [] : [[undefined, 'omit']],
    );
  });
});

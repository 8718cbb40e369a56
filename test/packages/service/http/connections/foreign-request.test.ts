import { request } from 'node:http';
import { describeForeignRequest, Readiness, startMetricsListener } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { describe, expect, it } from 'vitest';
import { createMemoryLog } from '../../../../support/memory-log.js';

describe('a local listener', () => {
  it.each([
    { host: 'localhost' },
    { host: 'LOCALHOST:8330' },
    { host: '127.0.0.1:8330' },
    { host: '127.8.8.8' },
    { host: '[::1]:8330' },
    { host: 'vendors.internal:1' },
    { host: 'localhost:8330', origin: 'http://localhost:3000' },
    { host: 'localhost:8330', origin: 'https://vendors.internal' },
  ])('serves $host to a page from $origin', (headers) => {
    expect(describeForeignRequest(headers, 'Vendors.internal')).toBeUndefined();
  });

  it.each([
    {},
    { host: '' },
    { host: 'attacker.example:8330' },
    { host: 'localhost.attacker.example' },
    { host: '127.0.0.1.attacker.example' },
    { host: '192.0.2.7' },
    { host: '0.0.0.0:8330' },
    { host: 'a b' },
    { host: 'localhost', origin: 'http://attacker.example' },
    { host: 'localhost', origin: 'http://192.0.2.7' },
    { host: 'localhost', origin: 'null' },
    { host: 'localhost', origin: 'file://' },
  ])('refuses $host to a page from $origin', (headers) => {
    expect(describeForeignRequest(headers, '127.0.0.1')).toMatch(
      'origin' in headers ? /pages of other sites/ : /use localhost or the address/,
    );
  });

  it.each(['0.0.0.0', '::'])('serves only its own pages if it is bound to %s', (bound) => {
    for (const host of ['192.168.1.5:9320', '192.168.1.5', '[2001:db8::1]:9320']) {
      expect(describeForeignRequest({ host, origin: `http://${host}` }, bound)).toBeUndefined();
    }
    const host = '192.168.1.5:9320';
    for (const origin of [
      'http://192.168.1.5:80',
      'http://192.168.1.6:9320',
      'http://attacker.example:9320',
    ]) {
      expect(describeForeignRequest({ host, origin }, bound), origin).toContain('pages of other sites');
    }
    const rebound = { host: 'attacker.example:9320', origin: 'http://attacker.example:9320' };
    expect(describeForeignRequest(rebound, bound)).toContain('the name in Host');
  });

  it('accepts in Host any address, but no name except localhost, if it is bound to every address', () => {
    for (const host of ['192.0.2.7:8330', '[2001:db8::1]:8330', 'localhost']) {
      expect(describeForeignRequest({ host }, '0.0.0.0')).toBeUndefined();
    }
    expect(describeForeignRequest({ host: 'attacker.example' }, '0.0.0.0')).toContain('attacker.example');
    expect(describeForeignRequest({ host: '192.0.2.7', origin: 'http://192.0.2.9' }, '::')).toContain(
      '192.0.2.9',
    );
  });
});

it('metrics are served at the configured address', async () => {
  const readiness = new Readiness({}, createMemoryLog().log);
  const listener = await startMetricsListener(new Metrics(), { host: '::1', port: 0 }, readiness);
  expect(listener.url).toMatch(/^http:\/\/\[::1\]:\d+\/metrics$/);
  expect((await fetch(listener.url)).status).toBe(200);
  await listener.close();
});

it('metrics are not served to a web page through DNS rebinding', async () => {
  const listener = await startMetricsListener(
    new Metrics(),
    { host: '127.0.0.1', port: 0 },
    new Readiness({}, createMemoryLog().log),
  );
  const statusAs = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      request(listener.url, { headers }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
  expect(await statusAs({ host: 'attacker.example' })).toBe(403);
  expect(await statusAs({ origin: 'http://attacker.example' })).toBe(403);
  expect(await statusAs({ host: 'localhost' })).toBe(200);
  expect(await statusAs({})).toBe(200);
  await listener.close();
});

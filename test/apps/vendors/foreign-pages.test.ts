import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestVendors, type TestVendors } from './vendor-clients.js';

describe('a web page of another site', () => {
  let test: TestVendors;

  beforeEach(async () => {
    test = await startTestVendors();
  });
  afterEach(() => test.close());

  function ask(method: string, path: string, headers: Record<string, string>, body = '') {
    return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const asked = request(`${test.vendors.urls.http}${path}`, { method, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode, text }));
      });
      asked.on('error', reject).end(body);
    });
  }

  const script = '{"rules":[{"vendor":"fcm","status":503}]}';
  const operations = [
    ['GET', '/deliveries', ''],
    ['DELETE', '/deliveries', ''],
    ['GET', '/faults', ''],
    ['PUT', '/faults', script],
    ['DELETE', '/faults', ''],
    ['GET', '/stats', ''],
  ] as const;

  it.each(operations)(
    'cannot %s %s, either by DNS rebinding or from its own origin',
    async (...operation) => {
      const [method, path, body] = operation;
      for (const headers of [{ host: 'attacker.example:8330' }, { origin: 'https://attacker.example' }]) {
        const { status, text } = await ask(method, path, headers, body);
        expect([status, JSON.parse(text)]).toMatchObject([
          403,
          { error: expect.stringContaining('attacker.example') },
        ]);
      }
      expect(await ask('GET', '/faults', {})).toMatchObject({ text: '{"rules":[]}' });
      expect(await ask(method, path, { host: 'localhost' }, body)).toMatchObject({ status: 200 });
    },
  );
});

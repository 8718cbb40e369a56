import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type ErrorCode, ProtocolError } from '@waxwing/protocol';
import { createHttpApp, rateLimitHit } from '@waxwing/service/http';
import { AddressRanges } from '@waxwing/service/http-settings';
import { Metrics } from '@waxwing/service/metrics';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { sourceFiles } from '../../../architecture/source-files.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { testOperation } from '../../../support/test-operation.js';

const root = join(import.meta.dirname, '../../../..');
const proxy = '10.0.0.1';
const headers = { 'x-forwarded-for': '203.0.113.7' };
let app: FastifyInstance | undefined;
afterEach(() => app?.close());

const isSource = (file: string) => /\/src\//.test(file) && !/\/(?:node_modules|dist)\//.test(file);

/** Returns the log line of a request that its operation refuses. */
async function lineOf(
  thrown: ProtocolError,
  { actor, remoteAddress = proxy }: { actor?: string; remoteAddress?: string } = {},
): Promise<Record<string, unknown>> {
  const logged = createMemoryLog();
  const operation = testOperation({
    method: 'GET',
    path: '/thing',
    async authenticate(head) {
      if (actor !== undefined) head.setActor(actor);
      throw thrown;
    },
    handle: async () => ({}),
  });
  app = await createHttpApp({
    log: logged.log,
    metrics: new Metrics(),
    operations: [operation],
    readiness: {},
    limits: { trustedProxies: new AddressRanges([proxy]) },
  });
  await app.inject({ url: '/thing', remoteAddress, headers });
  const lines = () => logged.lines().filter(({ operation: name }) => name === 'GET /thing');
  await expect.poll(lines).toHaveLength(1);
  return lines()[0] ?? {};
}

describe('the log line of a request with wrong credentials', () => {
  it.each<ErrorCode>(['UNAUTHORIZED', 'INVALID_API_KEY', 'AUTHENTICATION_FAILED', 'USER_DEACTIVATED'])(
    'contains the address that a trusted proxy forwards (%s)',
    async (code) => {
      expect(await lineOf(new ProtocolError(code))).toMatchObject({ status: 401, address: '203.0.113.7' });
    },
  );

  it('contains the address of the connection if no trusted proxy forwards the request', async () => {
    const line = await lineOf(new ProtocolError('UNAUTHORIZED'), { remoteAddress: '198.51.100.9' });
    expect(line.address).toBe('198.51.100.9');
  });

  it('also contains the address after too many attempts, unless the actor is known', async () => {
    const limited = rateLimitHit('sign-in from this address', 60);
    const refused = 'sign-in from this address';
    expect(await lineOf(limited)).toMatchObject({ status: 429, address: '203.0.113.7', refused });
    await app?.close();
    const known = await lineOf(limited, { actor: 'user 7' });
    expect(known).toMatchObject({ status: 429, actor: 'user 7', refused });
    expect(known).not.toHaveProperty('address');
  });
});

it('no address is logged for a request that is refused for another reason', async () => {
  expect(await lineOf(new ProtocolError('BAD_REQUEST'))).not.toHaveProperty('address');
});

it('every 503 and 429 in the source has a cause or a specific message, which its log line shows', () => {
  const thrown = ['packages', 'apps'].flatMap((parent) =>
    sourceFiles(join(root, parent))
      .filter(isSource)
      .flatMap((file) => {
        const text = readFileSync(file, 'utf8');
        const calls = text.matchAll(
          /new ProtocolError\('(?:RATE_LIMIT_HIT|SERVICE_UNAVAILABLE)'(?:\)|,([\s\S]*?)\n? *\}\))/g,
        );
        return [...calls].map(([call]) => ({ file: relative(root, file), call }));
      }),
  );
  expect(thrown.length).toBeGreaterThan(5);
  expect(thrown.filter(({ call }) => !/\b(?:cause|message)\b/.test(call))).toEqual([]);
});

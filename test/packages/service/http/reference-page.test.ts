import { createHash } from 'node:crypto';
import { bindOperations, createHttpApp, operation, referenceOperation } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { createMemoryLog } from '../../../support/memory-log.js';

const bird = z.object({
  name: z.string(),
  eggs: z.array(z.object({ color: z.enum(['blue', 'white']) })).optional(),
  home: z.union([z.object({ nest: z.string() }), z.object({ cage: z.string() }), z.null()]),
});
const findBirds = operation({
  method: 'POST',
  path: '/api/v1/birds/{kind}',
  summary: 'Finds birds & <b>their</b> `eggs`.',
  actor: {
    name: 'user',
    description: 'An "API key" & <i>more</i>.',
    codes: [],
    authenticate: () => undefined,
  },
  parameters: z.object({ kind: z.string(), limit: z.string().default('10'), color: z.string().optional() }),
  aliases: { colour: 'color' },
  since: { color: 12 },
  answer: z.object({ birds: z.array(bird.meta({ schemaName: 'Bird' })), found: z.boolean().optional() }),
  codes: ['BAD_REQUEST'],
  handle: async () => ({ birds: [] }),
});
const info = { title: 'Aviary <1>', description: 'Birds.', version: '1' };
let app: FastifyInstance;
let page: string;

beforeAll(async () => {
  app = await createHttpApp({
    log: createMemoryLog().log,
    metrics: new Metrics(),
    operations: bindOperations({}, [findBirds, referenceOperation(info, [findBirds])]),
    readiness: {},
  });
  page = (await app.inject('/docs')).payload;
});
afterAll(() => app.close());

it('allows only its own style sheet, without scripts and other origins', async () => {
  const { headers, statusCode } = await app.inject('/docs');
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
  const digest = createHash('sha256').update(style).digest('base64');
  expect(headers['content-security-policy']).toBe(
    `default-src 'none'; style-src 'sha256-${digest}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
  );
  expect(page).not.toMatch(/<script|style="|\son\w+=|https?:|url\(/i);
  expect((await app.inject({ method: 'HEAD', url: '/docs' })).payload).toBe('');
});

it('escapes all text', () => {
  expect(page).toContain('<h1>Aviary &lt;1&gt;: API reference</h1>');
  expect(page).toContain('<p>Finds birds &amp; &lt;b&gt;their&lt;/b&gt; <code>eggs</code>.</p>');
  expect(page).toContain('An &quot;API key&quot; &amp; &lt;i&gt;more&lt;/i&gt;.');
});

it('shows parameters, credentials, response fields, errors and shapes', () => {
  const text = page.replace(/<[^>]+>/g, '').replaceAll('&quot;', '"');
  expect(text).toContain('POST /api/v1/birds/{kind}');
  expect(text).toContain('Credentials: user.');
  expect(text).toContain('kind string, in the path, required');
  expect(text).toContain('limit string, in the form, default "10"');
  expect(text).toContain('color string, in the form, since feature level 12Also accepted as colour.');
  expect(text).toContain('birds list of Bird');
  expect(text).toContain('found boolean, may be absent');
  expect(text).toContain('eggs list of object, may be absentcolor "blue" or "white"');
  expect(text).toContain('home object or nullEither:nest stringOr:cage string');
  expect(page).toMatch(/<dt>400<\/dt><dd>.*<code>BAD_REQUEST<\/code>/);
  expect(page).toContain('<article id="shape-Bird"');
});

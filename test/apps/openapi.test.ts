import { appendFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { errorCodes } from '@waxwing/protocol';
import { relayAdminApi, relayAdminOperations, relayApi, relayOperations } from '@waxwing/relay';
import { roles, serverApi, serverOperations } from '@waxwing/server';
import {
  type AnyOperation,
  anyone,
  codesOf,
  codesOfRequests,
  createHttpApp,
  noAnswer,
  noParameters,
  openApiDocument,
  operation,
} from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bindRelayAdminOperations } from '#relay/operations.js';
import { createMemoryLog } from '../support/memory-log.js';
import { declaredLines, missingCodes } from '../support/provoked-codes.js';
import { sqliteBackend } from '../support/test-databases.js';
import { keyAdminOnDisk } from './relay/admin-socket/admin-socket-under-test.js';
import { basic, startRelayUnderTest } from './relay/relay-under-test.js';
import { ServerUnderTest } from './server/server-under-test.js';

/** A running app and credentials for the generic tests. */
interface AppUnderTest {
  readonly app: Awaited<ReturnType<typeof createHttpApp>>;
  /** Headers with valid credentials for its operations, and headers with invalid credentials. */
  readonly good: Record<string, string>;
  readonly wrong: Record<string, string>;
  close(): Promise<void>;
}

const databases = sqliteBackend();
const apps = [
  {
    name: 'relay',
    api: relayApi,
    operations: relayOperations,
    async start(): Promise<AppUnderTest> {
      const relay = await startRelayUnderTest(await databases.freshUrl());
      return {
        app: relay.app,
        good: { authorization: relay.authorization },
        wrong: { authorization: basic(relay.server.serverId, 'wrong') },
        close: () => relay.close(),
      };
    },
  },
  {
    name: 'relay-admin',
    api: relayAdminApi,
    operations: relayAdminOperations,
    async start(): Promise<AppUnderTest> {
      const { admin } = await keyAdminOnDisk();
      const operations = bindRelayAdminOperations(admin);
      const { log } = createMemoryLog();
      const app = await createHttpApp({ log, metrics: new Metrics(), operations, readiness: {} });
      const good = { 'waxwing-operator': 'ada' };
      return { app, good, wrong: { 'waxwing-operator': 'a'.repeat(101) }, close: () => app.close() };
    },
  },
  {
    name: 'server',
    api: serverApi,
    operations: serverOperations,
    async start(): Promise<AppUnderTest> {
      const server = await ServerUnderTest.start();
      const ada = await server.addAccount('ada@example.com', { role: roles.owner });
      return {
        app: server.server.app,
        good: { authorization: ada.authorization },
        wrong: { authorization: basic(ada.email, 'x'.repeat(32)) },
        close: () => server.close(),
      };
    },
  },
];

it('records the declared codes, so that a complete run can name the codes that no test provokes', () => {
  const lines = apps.flatMap(({ operations }) =>
    operations.flatMap((declared: AnyOperation) => declaredLines(declared, codesOfRequests(declared))),
  );
  const file = process.env.WAXWING_PROVOKED_CODES;
  if (file !== undefined) appendFileSync(file, lines.map((line) => `${line}\n`).join(''));
  expect(lines).toContain('declared DELETE /api/v1/events BAD_EVENT_QUEUE_ID');
  expect(missingCodes(['declared GET /a X', 'declared GET /a Y', 'GET /a X'])).toEqual(['GET /a Y']);
  expect(missingCodes([])).toHaveLength(1);
});

describe('a shape with a name', () => {
  const pet = z.object({ name: z.string() }).meta({ schemaName: 'Pet' });
  const listing = (path: string, shape: z.ZodType) =>
    operation({
      method: 'GET',
      path,
      summary: 'Things.',
      actor: anyone,
      parameters: noParameters,
      answer: z.object({ first: shape, others: z.array(shape) }),
      codes: [],
      handle: async () => ({ first: undefined, others: [] }),
    });
  const about = { title: 't', description: 'd', version: '1' };

  it('occurs once in the document, and is referenced', () => {
    const document = openApiDocument(about, [listing('/a', pet), listing('/b', pet.optional())]);
    const text = JSON.stringify(document);
    expect(text.split('"#/components/schemas/Pet"')).toHaveLength(5);
    expect(document).toMatchObject({
      components: { schemas: { Pet: { type: 'object', properties: { name: { type: 'string' } } } } },
    });
    expect(text).not.toContain('schemaName');
  });

  it('has a unique name', () => {
    const other = z.object({ age: z.number() }).meta({ schemaName: 'Pet' });
    expect(() => openApiDocument(about, [listing('/a', pet), listing('/b', other)])).toThrow(
      'Two different schemas are named Pet',
    );
  });
});

it('lists the older names of a parameter, and the feature level since which it is accepted', () => {
  const declared = operation({
    method: 'GET',
    path: '/things',
    summary: 'Things.',
    actor: anyone,
    parameters: z.object({ ids: z.string(), others: z.string() }),
    aliases: { numbers: 'ids' },
    since: { ids: 384 },
    answer: noAnswer,
    codes: [],
    handle: async () => ({}),
  });
  const document = openApiDocument({ title: 't', description: 'd', version: '1' }, [declared]);
  expect(document).toMatchObject({
    paths: {
      '/things': {
        get: {
          parameters: [
            { name: 'ids', description: 'Also accepted as numbers.', 'x-since-feature-level': 384 },
            { name: 'others', in: 'query', required: true, schema: { type: 'string' } },
          ],
        },
      },
    },
  });
  expect(JSON.stringify(document).match(/x-since-feature-level/g)).toHaveLength(1);
});

describe.each(apps)('the OpenAPI document of the $name', ({ name, api, operations, start }) => {
  it('equals its copy in docs/openapi', async () => {
    const text = `${JSON.stringify(openApiDocument(api, operations), undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot(`../../docs/openapi/${name}.json`);
  });

  it('is valid by the schema of OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(openApiDocument(api, operations))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    const wrong = { ...openApiDocument(api, operations), security: 'basic' };
    expect(await new Validator().validate(wrong)).toMatchObject({ valid: false });
  });

  it('lists each operation once', () => {
    const { paths } = openApiDocument(api, operations) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const ids = Object.values(paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(operations.length);
  });

  it('has no missing and no unused component', () => {
    const document = openApiDocument(api, operations) as { components: Record<string, object> };
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, place]) => place);
    const { securitySchemes = {}, ...others } = document.components;
    const named = Object.entries(others).flatMap(([kind, parts]) =>
      Object.keys(parts).map((name) => `${kind}/${name}`),
    );
    expect(text.split('"$ref"').length - 1).toBe(references.length);
    expect([...new Set(references)].sort()).toEqual(named.sort());
    expect(named.filter((name) => !/^\w+\/[\w.-]+$/.test(name))).toEqual([]);
    const secured = [...text.matchAll(/"security":\[\{"([^"]+)"/g)].map(([, name]) => name);
    expect([...new Set(secured)].sort()).toEqual(Object.keys(securitySchemes).sort());
  });

  it('is served to every client, and each of its operations refuses requests as declared', async () => {
    const app = await start();
    try {
      const served = await app.app.inject({ method: 'GET', url: '/api/openapi.json' });
      expect(served.json()).toEqual(openApiDocument(api, operations));
      for (const declared of operations) await expectRefusals(app, declared);
    } finally {
      await app.close();
    }
  });
});

/** Request addresses with invalid parameters, each with the expected refusal. */
function wrongAddresses({ aliases = {}, body, parameters, path }: AnyOperation): [string, string][] {
  const url = path.replace(/\{\w+\}/g, '1');
  const twice = Object.entries(aliases).map(([alias, name]) => `${url}?${alias}=1&${name}=1`);
  const [name] = Object.keys(parameters.shape);
  const unreadable = path.includes('{') ? path.replace(/\{\w+\}/g, '%00') : `${url}?${name}=%00`;
  return [
    ...(name === undefined || body === 'json' ? [] : [[unreadable, 'BAD_REQUEST'] as [string, string]]),
    ...twice.map((at): [string, string] => [at, 'REQUEST_CONFUSING_VAR']),
  ];
}

/** Expects the refusals that apply to every operation before it runs. */
async function expectRefusals(app: AppUnderTest, declared: AnyOperation): Promise<void> {
  const { actor, bodyLimitBytes = 64 * 1024, method } = declared;
  const url = declared.path.replace(/\{\w+\}/g, '1');
  const ask = async (headers: Record<string, string>, payload?: string, at = url) => {
    const answer = await app.app.inject({
      method,
      url: at,
      headers,
      ...(payload !== undefined && { payload }),
    });
    return answer.json<{ code?: string }>().code;
  };
  const { good, wrong } = app;
  const may = codesOf(declared);
  if (actor.authenticate !== undefined) {
    if (actor.isOptional !== true) expect(await ask({}), declared.path).toBe('UNAUTHORIZED');
    if (actor.header === undefined) {
      expect(await ask({ authorization: 'Bearer x' })).toBe('BAD_REQUEST');
    }
    expect(['INVALID_API_KEY', 'UNAUTHORIZED']).toContain(await ask(wrong));
  }
  if (method !== 'GET') {
    const form = { ...good, 'content-type': 'application/x-www-form-urlencoded' };
    expect(await ask({ ...form, 'content-type': 'text/plain' }, 'x')).toBe('UNSUPPORTED_MEDIA_TYPE');
    expect(await ask(form, 'x'.repeat(bodyLimitBytes + 1))).toBe('PAYLOAD_TOO_LARGE');
  }
  if (may.includes('REQUEST_VARIABLE_MISSING')) {
    expect(await ask(good)).toBe('REQUEST_VARIABLE_MISSING');
  }
  for (const [at, code] of wrongAddresses(declared)) expect(await ask(good, undefined, at), at).toBe(code);
  for (const other of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const answer = await app.app.inject({ method: other, url, headers: {} });
    // A known path may also answer 404, but with a different message.
    const isUnknown = answer.statusCode === 404 && answer.payload.includes(errorCodes.NOT_FOUND.message);
    if (isUnknown) throw new Error(`${other} ${url} is not found`);
    if (answer.statusCode === 405) expect(answer.json().allowed_methods).toContain(method);
  }
}

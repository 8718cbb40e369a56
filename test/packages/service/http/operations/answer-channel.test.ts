import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ProtocolError } from '@waxwing/protocol';
import { createHttpApp, EncodedAnswer, EncodedJson, ListAnswer, RawAnswer } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { expect, it } from 'vitest';
import { answerChannelName, type PublishedAnswer } from '#service/http/operations/answer-channel.js';
import { createMemoryLog } from '../../../../support/memory-log.js';
import { type TestOperation, testOperation } from '../../../../support/test-operation.js';

// Other tests rely on this: only published responses are compared with their declarations.
it('every kind of response of an operation is published', async () => {
  const pieces = async function* () {
    yield [{ id: 1 }];
    yield [{ id: 2 }, { id: 3 }];
  };
  const kinds: Record<string, TestOperation['handle']> = {
    plain: async () => ({ id: 1 }),
    list: async () => new ListAnswer('entries', pieces(), { total: 3 }),
    encoded: async () => new EncodedAnswer({ id: 1, entries: new EncodedJson([Buffer.from('[2]')]) }),
    raw: async () => new RawAnswer(304, {}, ''),
    refusal: () => Promise.reject(new ProtocolError('BAD_REQUEST')),
  };
  const app = await createHttpApp({
    log: createMemoryLog().log,
    metrics: new Metrics(),
    readiness: {},
    operations: Object.entries(kinds).map(([kind, handle]) =>
      testOperation({ method: 'GET', path: `/${kind}`, handle }),
    ),
  });
  const published: unknown[] = [];
  const note = (message: unknown): void => {
    const { declared, httpStatus, code, fields } = message as PublishedAnswer;
    published.push([declared.path, httpStatus, code, fields]);
  };
  subscribe(answerChannelName, note);
  try {
    for (const kind of [...Object.keys(kinds), 'unknown']) await app.inject(`/${kind}`);
  } finally {
    unsubscribe(answerChannelName, note);
    await app.close();
  }
  expect(published).toEqual([
    ['/plain', 200, undefined, { id: 1 }],
    ['/list', 200, undefined, { total: 3, entries: [] }],
    ['/list', 200, undefined, { total: 3, entries: [{ id: 1 }] }],
    ['/list', 200, undefined, { total: 3, entries: [{ id: 2 }, { id: 3 }] }],
    ['/encoded', 200, undefined, { id: 1, entries: [2] }],
    ['/raw', 304, undefined, undefined],
    ['/refusal', 400, 'BAD_REQUEST', undefined],
  ]);
});

import { createHttpApp } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { DatabaseUnavailableError } from '@waxwing/storage';
import { expect, it } from 'vitest';
import { createMemoryLog } from '../../support/memory-log.js';
import { testOperation } from '../../support/test-operation.js';

it('an unavailable database leads to a 503 with Retry-After', async () => {
  const logged = createMemoryLog();
  const app = await createHttpApp({
    log: logged.log,
    metrics: new Metrics(),
    readiness: {},
    operations: [
      testOperation({
        method: 'GET',
        path: '/api/v1/stored',
        async handle() {
          throw new DatabaseUnavailableError(
            'The database does not answer: nothing listens at 10.0.0.9, port 5432.',
          );
        },
      }),
    ],
  });
  const response = await app.inject({ method: 'GET', url: '/api/v1/stored' });
  expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '5']);
  expect(response.json()).toEqual({
    result: 'error',
    code: 'SERVICE_UNAVAILABLE',
    msg: 'Service temporarily unavailable',
  });
  await app.close();
});

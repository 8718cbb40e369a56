import { createHttpApp } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { onTestFinished } from 'vitest';
import { createMemoryLog } from '../../../../support/memory-log.js';
import { type TestOperation, testOperation } from '../../../../support/test-operation.js';

/** Starts an app with these operations, and closes it at the end of the test. */
export async function serve(...operations: TestOperation[]) {
  const app = await createHttpApp({
    log: createMemoryLog().log,
    metrics: new Metrics(),
    readiness: {},
    operations: operations.map(testOperation),
  });
  onTestFinished(() => app.close());
  return app;
}

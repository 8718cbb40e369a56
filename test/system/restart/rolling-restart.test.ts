import { describe, expect, it } from 'vitest';
import { eachPostgres, testPostgresUrl } from '../../support/test-databases.js';
import { hasNginx } from './nginx.js';
import { runRollingRestart } from './rolling-restart.js';

// A short run. By default, `npm run restarts` sends 5000 requests at 30 per second.
const requests = 300;
const requestsPerSecond = 10;
const timeoutMilliseconds = 400_000;

describe.runIf(hasNginx)('two relays and two servers behind nginx', () => {
  eachPostgres(() => {
    it.each([
      ['restart one after another', false],
      ['are upgraded one after another, while old and new processes share the databases,', true],
    ])(
      '%s under load without failed requests or lost or duplicate messages',
      async (_, isUpgrade) => {
        const told: string[] = [];
        const counts = await runRollingRestart({
          requests,
          requestsPerSecond,
          isUpgrade,
          postgresUrl: testPostgresUrl ?? '',
          tell: (sentence) => void told.push(sentence),
        });
        expect(counts, told.join('\n')).toMatchObject({ failed: 0, lost: 0, doubled: 0 });
        expect(counts.requests).toBeGreaterThanOrEqual(requests);
        expect(counts.restarts).toBeGreaterThanOrEqual(4);
        expect(counts.migrated).toBe(isUpgrade ? 2 : 0);
      },
      timeoutMilliseconds,
    );
  });
});

import { describe, expect, it } from 'vitest';
import { eachBackend, testPostgresUrl } from '../../support/test-databases.js';
import { runCrash } from './crash-run.js';

// A short run. `npm run crash` runs 20 rounds by default.
const rounds = 4;
// Takes 15 seconds, but a few minutes on a shared machine.
const timeoutMilliseconds = 360_000;

describe('relay and server killed at random moments under load', () => {
  eachBackend(({ name }) => {
    it(
      'lose nothing that they acknowledged, and repeat at most a few notifications',
      async () => {
        const told: string[] = [];
        const counts = await runCrash({
          rounds,
          phones: 400,
          seed: 20_260_311,
          postgresUrl: name === 'postgres' ? testPostgresUrl : undefined,
          tell: (sentence) => void told.push(sentence),
        });
        expect(counts, told.join('\n')).toMatchObject({ lost: 0, shownTwice: 0, unopenable: 0 });
        // Checks that the load was high enough for the kills to interrupt requests.
        expect(counts.acknowledged).toBeGreaterThan(10 * rounds);
        // Messages were sent too, and their notifications were queued as jobs when a process was killed.
        expect(counts.messages).toBeGreaterThan(10 * rounds);
        // Checks that each transport has delivered something, because each has its own code.
        for (const [transport, count] of Object.entries(counts.deliveries))
          expect(count, transport).toBeGreaterThan(10 * rounds);
        // Only deliveries that are in flight when the relay is killed are repeated.
        expect(counts.repeated).toBeLessThan(10 * rounds);
      },
      timeoutMilliseconds,
    );
  });
});

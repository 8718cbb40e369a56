import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from '../support/fast-check.js';
import { Run } from '../support/restorable-run.js';
import { RestorableWorld, type StoredSide } from '../support/restorable-world.js';
import { eachBackend } from '../support/test-databases.js';

/** A step of a random schedule. There are two users with two phones each, numbered 0 to 3. */
type Step =
  | { readonly kind: 'sync' | 'change-token'; readonly phone: number }
  | { readonly kind: 'notify'; readonly user: number }
  /** Notifies a user while the relay is down. The relay then restarts, from a backup if `isRestored`. */
  | { readonly kind: 'notify-while-away'; readonly user: number; readonly isRestored: boolean }
  | { readonly kind: 'back-up' | 'restore'; readonly side: StoredSide }
  /** Makes the server announce the newer generation. */
  | { readonly kind: 'upgrade' }
  /** Waits long enough for the server to send its device removals to the relay. */
  | { readonly kind: 'wait' };

const mostSchedules = 20;
/** Time limit for trying schedules. A slow machine tries fewer, but at least one. */
const enoughMilliseconds = 4000;

const phone = fc.nat({ max: 3 });
const user = fc.nat({ max: 1 });
const side = fc.constantFrom<StoredSide>('relay', 'relay', 'server');
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('sync' as const), phone }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change-token' as const), phone }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('notify' as const), user }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('notify-while-away' as const),
      user,
      isRestored: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('back-up' as const), side }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restore' as const), side }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('upgrade' as const, 'wait' as const) }) },
);
interface Schedule {
  /** Whether the server initially announces the older generation. */
  readonly isOlder: boolean;
  readonly steps: readonly Step[];
}

const schedules: fc.Arbitrary<Schedule> = fc.record({
  isOlder: fc.boolean(),
  steps: fc.array(step, { minLength: 5, maxLength: 12 }),
});

/**
 * A schedule in which a restore loses a phone's registration, and then another phone registers. `other` decides whether
 * the other phone belongs to the same user.
 */
const lost = (other: number, isOlder: boolean): Schedule => ({
  isOlder,
  steps: [
    { kind: 'sync', phone: 0 },
    { kind: 'notify', user: 0 },
    { kind: 'restore', side: 'relay' },
    { kind: 'sync', phone: other },
  ],
});

/**
 * Sends a message to a user. Expects that each of the user's phones gets it at most once, and no other phone gets it.
 */
async function notify(run: Run, to: number, isRelayAway?: { readonly isRestored: boolean }) {
  const arrived = await run.notify(to, isRelayAway);
  expect(arrived.ofOthers).toEqual([]);
  expect(Math.max(0, ...arrived.perToken.values())).toBeLessThanOrEqual(1);
  return arrived;
}

async function take(run: Run, each: Step): Promise<void> {
  switch (each.kind) {
    case 'sync':
      return expect(await run.sync(each.phone)).toBe('active');
    case 'change-token':
      return run.changeToken(each.phone);
    case 'notify':
      return void (await notify(run, each.user));
    case 'notify-while-away':
      return void (await notify(run, each.user, each));
    case 'back-up':
      return run.backUp(each.side);
    case 'restore':
      return run.restore(each.side);
    case 'upgrade':
      return run.upgrade();
    case 'wait':
      return run.wait();
  }
}

/** Repairs everything after any schedule: syncs each phone twice, with a message in between. */
async function settle(run: Run): Promise<void> {
  for (const each of [0, 1, 2, 3]) expect(await run.sync(each)).toBe('active');
  for (const to of [0, 1]) await notify(run, to);
  for (const each of [0, 1, 2, 3]) expect(await run.sync(each)).toBe('active');
  await run.wait();
  for (const to of [0, 1]) {
    const { perToken } = await notify(run, to);
    expect([...perToken.values()]).toEqual([1, 1]);
  }
}

eachBackend((backend) => {
  describe('databases of relay and server that are restored separately from backups', () => {
    let world: RestorableWorld;
    beforeAll(async () => {
      world = await RestorableWorld.create(backend.name);
    });
    afterAll(() => world.close());

    // The first relay reuses ids after a restore. Its id counter is far ahead of the clock, so the clock does not raise
    // it.
    const relays: [string, boolean][] = [
      ['that reuses ids', true],
      ['that does not reuse ids', false],
    ];
    // Tests only one relay on PostgreSQL, where copying a database takes long.
    it.each(backend.name === 'sqlite' ? relays : relays.slice(0, 1))(
      'deliver no message twice or to another user, and phones repair the rest: a relay %s',
      async (_relay, isAhead) => {
        const inBoth = (other: number): [Schedule][] => [[lost(other, true)], [lost(other, false)]];
        const examples = backend.name === 'sqlite' ? [...inBoth(2), ...inBoth(1)] : inBoth(2);
        const until = performance.now() + enoughMilliseconds;
        let runs = 0;
        const property = fc.asyncProperty(schedules, async ({ isOlder, steps }) => {
          runs += 1;
          if (runs > examples.length + 1 && performance.now() > until) return;
          const run = await Run.begin(world, { isAhead, isOlder });
          for (const each of steps) await take(run, each);
          await settle(run);
        });
        await fc.assert(property, { numRuns: examples.length + mostSchedules, examples, endOnFailure: true });
      },
      180_000,
    );
  });
});

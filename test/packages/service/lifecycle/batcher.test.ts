import { setImmediate as nextTick } from 'node:timers/promises';
import { Batcher, type BatcherOptions } from '@waxwing/service/lifecycle';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

/**
 * Creates a batcher that doubles numbers and records its batches. It rejects batches that contain 13, and all batches
 * while `isDown`.
 */
function createDoubler(options: BatcherOptions<number> = {}) {
  const doubler = { batches: [] as number[][], isDown: false, running: 0, mostRunning: 0, add };
  const batcher = new Batcher<number, number>(async (items) => {
    doubler.batches.push([...items]);
    doubler.running += 1;
    doubler.mostRunning = Math.max(doubler.mostRunning, doubler.running);
    await nextTick();
    doubler.running -= 1;
    if (doubler.isDown) throw new Error('down');
    if (items.includes(13)) throw new Error('unlucky');
    return items.map((item) => 2 * item);
  }, options);
  function add(...items: number[]) {
    return Promise.allSettled(items.map((item) => batcher.add(item)));
  }
  return doubler;
}

const isolates = (error: unknown) => (error as Error).message !== 'down';

describe('a batcher', () => {
  it('runs the items in one tick together, in batches of at most the maximum size', async () => {
    const doubler = createDoubler({ maximumItems: 3 });
    const first = doubler.add(1, 2, 3, 4);
    expect(doubler.batches).toEqual([]);
    await nextTick();
    await Promise.all([first, doubler.add(5)]);
    expect(doubler.batches).toEqual([[1, 2, 3], [4], [5]]);
  });

  it('rejects a whole batch with its error unless failures are isolated', async () => {
    const doubler = createDoubler();
    const outcomes = await doubler.add(1, 13);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('does not retry items one by one if no item can have caused the error', async () => {
    const doubler = createDoubler({ isolates });
    doubler.isDown = true;
    const outcomes = await doubler.add(1, 2, 3);
    expect(outcomes).toEqual(Array(3).fill({ status: 'rejected', reason: new Error('down') }));
    expect(doubler.batches).toEqual([[1, 2, 3]]);
  });

  it('adds only as many items as fit into one batch', async () => {
    const untilOdd = (items: readonly number[]) => {
      const index = items.slice(1).findIndex((item) => item % 2 === 1);
      return index === -1 ? items.length : index + 1;
    };
    const doubler = createDoubler({ countFitting: untilOdd });
    await doubler.add(1, 2, 3, 4, 6, 5);
    expect(doubler.batches).toEqual([[1, 2], [3, 4, 6], [5]]);
  });

  it('gives every item its own result, in order, and rejects only the bad items', async () => {
    const item = fc.oneof(fc.constant(13), fc.integer({ min: 0, max: 12 }));
    const dispatch = fc.constantFrom('end-of-tick' as const, 'when-idle' as const);
    const maximumItems = fc.integer({ min: 1, max: 5 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(item)), dispatch, maximumItems, async (ticks, how, maximum) => {
        const doubler = createDoubler({ dispatch: how, maximumItems: maximum, isolates });
        const answers = [];
        for (const items of ticks) {
          answers.push(doubler.add(...items));
          await nextTick();
        }
        const outcomes = (await Promise.all(answers)).flat();
        expect(outcomes).toEqual(
          ticks
            .flat()
            .map((each) =>
              each === 13
                ? { status: 'rejected', reason: new Error('unlucky') }
                : { status: 'fulfilled', value: 2 * each },
            ),
        );
        expect(Math.max(0, ...doubler.batches.map(({ length }) => length))).toBeLessThanOrEqual(maximum);
        if (how === 'when-idle') expect(doubler.mostRunning).toBeLessThanOrEqual(1);
      }),
    );
  });
});

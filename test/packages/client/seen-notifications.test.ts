import {
  createMemorySeenNotifications,
  createTextStores,
  type SeenNotification,
  type SeenNotifications,
} from '@waxwing/client';
import type { PushAccountId } from '@waxwing/protocol';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import fc from '../../support/fast-check.js';
import { TextsInMemory } from './texts-in-memory.js';

const [one, other] = [1n, -9_223_372_036_854_775_808n] as unknown as readonly [PushAccountId, PushAccountId];
/** Capacity per account of `createTextStores`. */
const textCapacity = 150;

function message(time: number, name = 'AAAA', pushAccountId = one): SeenNotification {
  return { pushAccountId, time, name };
}

async function addAll(seen: SeenNotifications, notifications: readonly SeenNotification[]) {
  const answers: boolean[] = [];
  for (const notification of notifications) answers.push(await seen.addIfNew(notification));
  return answers;
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => message(index));

/** Stores with a small capacity, and the stores that apps use. */
const kinds: readonly [string, number, () => SeenNotifications][] = [
  ['in memory', 3, () => createMemorySeenNotifications(3)],
  ['as text', textCapacity, () => createTextStores(new TextsInMemory()).seen],
];

describe.each(kinds)('The record of seen notifications, %s', (_, capacity, createSeen) => {
  it('recognizes a notification by its account, time and name', async () => {
    const all = [message(1), message(2), message(1, 'BBBB'), message(1, 'AAAA', other)];
    const seen = createSeen();
    expect(await addAll(seen, all)).toEqual([true, true, true, true]);
    expect(await addAll(seen, all)).toEqual([false, false, false, false]);
  });

  it('accepts older notifications while there is room, and always accepts newer notifications', async () => {
    const seen = createSeen();
    await addAll(seen, upTo(capacity - 1));
    expect(await addAll(seen, [message(-5), message(-5), message(capacity)])).toEqual([true, false, true]);
  });

  it('rejects a notification that is not newer than the newest evicted notification, as a possible replay', async () => {
    const seen = createSeen();
    await addAll(seen, upTo(capacity + 1));
    const answers = await addAll(seen, [message(-1), message(0), message(0, 'BBBB'), message(1)]);
    expect(answers).toEqual([false, false, false, false]);
    // The message with time 1 and this name is known. A message with the same time and another name is new.
    expect(await addAll(seen, [message(1, 'BBBB'), message(1, 'CCCC')])).toEqual([true, false]);
  });

  it('accepts later notifications after a notification from a clock far ahead', async () => {
    const seen = createSeen();
    const future = message(Number.MAX_SAFE_INTEGER);
    expect(await addAll(seen, [future, ...upTo(3 * capacity)])).not.toContain(false);
    expect(await seen.addIfNew(future)).toBe(false);
  });

  it('keeps the notifications of one account, however many another account gets', async () => {
    const seen = createSeen();
    await seen.addIfNew(message(7, 'AAAA', other));
    await addAll(seen, upTo(3 * capacity));
    expect(await seen.addIfNew(message(7, 'AAAA', other))).toBe(false);
    expect(await seen.addIfNew(message(0, 'AAAA', other))).toBe(true);
  });

  it('copies the records of one account to another, with the later watermark', async () => {
    const seen = createSeen();
    await addAll(seen, [message(5), message(5, 'AAAA', other), message(6, 'AAAA', other)]);
    await seen.copy(other, one);
    expect(await addAll(seen, [message(5), message(6), message(4), message(6, 'AAAA', other)])).toEqual([
      false,
      false,
      true,
      false,
    ]);
    await addAll(
      seen,
      upTo(capacity + 1).map(({ time }) => message(10 + time, 'AAAA', other)),
    );
    await seen.copy(other, one);
    await seen.copy(other, one);
    expect(await addAll(seen, [message(7), message(10), message(11), message(9_000_000)])).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it('forgets one account, and keeps the others', async () => {
    const seen = createSeen();
    await addAll(seen, [message(7), message(7, 'AAAA', other)]);
    await seen.forget(one);
    await seen.forget(one);
    expect(await addAll(seen, [message(7), message(7, 'AAAA', other)])).toEqual([true, false]);
  });

  it('accepts only one of two concurrent calls', async () => {
    const seen = createSeen();
    const both = await Promise.all([seen.addIfNew(message(1)), seen.addIfNew(message(1))]);
    expect(both.toSorted()).toEqual([false, true]);
  });
});

describe('In any sequence that a relay delivers, repeats and reorders', () => {
  const capacity = 4;
  const delivery = (start: number) =>
    fc.record({
      pushAccountId: fc.constantFrom(one, other),
      time: fc.integer({ min: start, max: start + 12 }),
      name: fc.constantFrom('AAAA', 'BBBB', 'CCCC'),
    });
  const deliveries = fc.array(delivery(0), { maxLength: 60 });

  it('a notification is shown at most once, and dropped only after too many newer notifications', async () => {
    await fc.assert(
      fc.asyncProperty(deliveries, async (delivered) => {
        const seen = createMemorySeenNotifications(capacity);
        const shown: SeenNotification[] = [];
        for (const next of delivered) {
          const ofAccount = shown.filter(({ pushAccountId }) => pushAccountId === next.pushAccountId);
          const wasShown = ofAccount.some(({ time, name }) => time === next.time && name === next.name);
          const notOlder = ofAccount.filter(({ time }) => time >= next.time);
          const isShown = await seen.addIfNew(next);
          if (wasShown) expect(isShown).toBe(false);
          else if (notOlder.length < capacity) expect(isShown).toBe(true);
          if (isShown) shown.push(next);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('text stores give the same results, even if the app restarts at any time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(delivery(textCapacity - 6), { maxLength: 30 }), async (delivered) => {
        const storage = new TextsInMemory();
        const memory = createMemorySeenNotifications(textCapacity);
        for (const next of [...upTo(textCapacity), ...delivered]) {
          expect(await createTextStores(storage).seen.addIfNew(next)).toBe(await memory.addIfNew(next));
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe('The record of seen notifications as text', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    return () => vi.useRealTimers();
  });

  it('takes at most 2048 bytes per account', async () => {
    const storage = new TextsInMemory();
    const { seen } = createTextStores(storage);
    const now = 36 ** 6;
    for (let index = 0; index < 2 * textCapacity; index += 1)
      await seen.addIfNew(message(now + index, '+/+/'));
    const [[name, text] = ['', '']] = storage.texts;
    expect([...storage.texts.keys()]).toEqual([`waxwing.seen.${one}`]);
    // All supported storages allow these characters in names.
    expect(name).toMatch(/^[\w.-]+$/);
    expect(text.length).toBeLessThanOrEqual(2048);
    expect(text.split(' ')).toHaveLength(3 + textCapacity);
  });

  it.each([
    '',
    'nonsense',
    '1 message 45\n1 message 46',
    '{"watermark":7}',
    'v1',
    'v1 zzzzzzzzzzzzzzzzz :: x:y:z 1:',
    'v1 - 2:AAAA\u0000',
    '[object Object]',
  ])('lets notifications arrive even if it is damaged: %j', async (text) => {
    const storage = new TextsInMemory();
    storage.texts.set('waxwing.seen', text);
    storage.texts.set(`waxwing.seen.${one}`, text);
    const { seen } = createTextStores(storage);
    expect(await addAll(seen, [message(1_800_000_000), message(1_800_000_000)])).toEqual([true, false]);
    const again = createTextStores(storage).seen;
    expect(await again.addIfNew(message(1_800_000_000))).toBe(false);
  });

  it.each([
    ['a watermark later than all entries', 'v1 zzzzzzz tro8zk:AAAA tro8zl:BBBB', [false, false, true]],
    ['an entry earlier than the watermark', 'v1 tro8zk 1:AAAA tro8zl:BBBB', [false, false, true]],
    ['an unreadable watermark', 'v1 ?ro8zj tro8zk:AAAA tro8zl:BBBB', [false, false, true]],
  ])('keeps working with %s, for new notifications and for replays', async (_, text, expected) => {
    const storage = new TextsInMemory();
    storage.texts.set(`waxwing.seen.${one}`, text);
    const { seen, accounts } = createTextStores(storage);
    const [first, second] = ['tro8zk', 'tro8zl'].map((digits) => Number.parseInt(digits, 36)) as [
      number,
      number,
    ];
    vi.setSystemTime(1000 * (second + 1));
    // Fills the store, so that the damaged entry is evicted.
    await addAll(
      seen,
      Array.from({ length: textCapacity - 1 }, (_, index) => message(second + 100 + index)),
    );
    const delivered = [message(first - 1), message(first), message(second + 1000)];
    expect(await addAll(seen, delivered)).toEqual(expected);
    expect(accounts.takeWarning?.()).toContain(`"waxwing.seen.${one}" is damaged`);
  });

  it('is atomic for all stores of one storage', async () => {
    const storage = new TextsInMemory();
    const [left, right] = [createTextStores(storage).seen, createTextStores(storage).seen];
    const both = await Promise.all([left.addIfNew(message(1)), right.addIfNew(message(1))]);
    expect(both.toSorted()).toEqual([false, true]);
    expect(await createTextStores(storage).seen.addIfNew(message(1))).toBe(false);
  });
});

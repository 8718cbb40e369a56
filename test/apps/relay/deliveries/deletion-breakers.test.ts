import { afterEach, describe, expect, it, vi } from 'vitest';
import { BreakerStore } from '../../../../apps/relay/src/deliveries/apps/breaker-store.js';
import { DeletionBreakers } from '../../../../apps/relay/src/deliveries/apps/deletion-breakers.js';
import { type RelayTables, relayMigrationSets } from '../../../../apps/relay/src/relay-tables.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { sqliteBackend } from '../../../support/test-databases.js';

const app = 'fcm:some-project';
const hour = 60 * 60_000;
const time = { now: Date.UTC(2026, 0, 5, 12) };
const backend = sqliteBackend();
let store: BreakerStore | undefined;
afterEach(() => {
  store = undefined;
});

/** The breakers of one more process on the same database. */
async function startProcess(): Promise<DeletionBreakers> {
  store ??= new BreakerStore(await backend.open<RelayTables>({ migrations: relayMigrationSets }));
  const { log } = createMemoryLog();
  const breakers = new DeletionBreakers({ clock: () => time.now, log, store, onChange: () => undefined });
  await breakers.load();
  return breakers;
}

/** What one app's vendor says, mixed evenly; how many of the dead tokens may be deleted. */
async function hear(breakers: DeletionBreakers, total: number, deadShare: number, of = app): Promise<number> {
  let deleted = 0;
  for (let index = 0; index < total; index += 1) {
    const isDead = Math.floor((index + 1) * deadShare) > Math.floor(index * deadShare);
    if (!isDead) breakers.noteSent(of);
    else if (await breakers.mayDelete(of)) deleted += 1;
  }
  return deleted;
}

function gate(): { passed: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

describe('what is usual for an app', () => {
  it('is not learnt from a quiet hour', async () => {
    const breakers = await startProcess();
    expect(await hear(breakers, 10, 1)).toBe(10);
    time.now += hour + 1;
    expect(await hear(breakers, 500, 1)).toBe(20);
  });

  it('never makes the death of nearly all tokens usual', async () => {
    const breakers = await startProcess();
    for (let window = 0; window < 10; window += 1) await hear(breakers, 1000, 0.19);
    for (let window = 0; window < 5; window += 1) await hear(breakers, 1000, 0.5);
    expect(breakers.describe()).toBeUndefined();
    expect(await hear(breakers, 1000, 1)).toBeLessThan(50);
    expect(breakers.describe()).toContain(app);
  });
});

describe('deletions whose freezing cannot be stored', () => {
  it('do not happen, and are frozen as soon as it can be: nobody could confirm what only memory knows', async () => {
    const breakers = await startProcess();
    expect(await hear(breakers, 20, 1)).toBe(20);
    const open = vi
      .spyOn(store as BreakerStore, 'open')
      .mockRejectedValueOnce(new Error('the database is away'));
    await expect(breakers.mayDelete(app)).rejects.toThrow('away');
    expect(breakers.describe()).toBeUndefined();
    expect(await breakers.mayDelete(app)).toBe(false);
    expect(breakers.describe()).toContain(app);
    expect(open).toHaveBeenCalledTimes(2);
    expect(await store?.confirm(app, time.now)).toBe(true);
  });
});

describe('deletions that an operator confirmed', () => {
  it('are not frozen again that day by another process, which has not heard of it yet', async () => {
    const [first, second] = [await startProcess(), await startProcess()];
    expect(await hear(first, 100, 1)).toBe(20);
    expect(await store?.confirm(app, time.now)).toBe(true);
    time.now += 60_000;
    expect(await hear(second, 100, 1)).toBe(100);
    expect(await hear(first, 100, 1)).toBe(100);
    expect(await store?.list()).toMatchObject([{ confirmedAt: time.now - 60_000 }]);
  });

  it('can be frozen anew when the day is over', async () => {
    const breakers = await startProcess();
    await hear(breakers, 100, 1);
    await store?.confirm(app, time.now);
    time.now += 23 * hour;
    expect(await hear(breakers, 100, 1)).toBe(100);
    time.now += 2 * hour;
    expect(await hear(breakers, 100, 1)).toBeLessThanOrEqual(20);
  });
});

describe('deletions that are frozen', () => {
  it('stay so when what was read before brings back an older confirmation', async () => {
    const other = 'fcm:another-project';
    const breakers = await startProcess();
    await hear(breakers, 100, 1);
    await store?.confirm(app, time.now);
    time.now += 25 * hour;
    // One more freezes them.
    for (const of of [app, other]) await hear(breakers, 20, 1, of);
    const { open, list } = store as BreakerStore;
    const [stored, told] = [gate(), gate()];
    const opening = vi.spyOn(store as BreakerStore, 'open').mockImplementationOnce(async (breaker) => {
      await stored.passed;
      await open.call(store as BreakerStore, breaker);
    });
    const freezing = breakers.mayDelete(app);
    await expect.poll(() => opening.mock.calls.length).toBe(1);
    const reading = vi.spyOn(store as BreakerStore, 'list').mockImplementationOnce(async () => {
      const read = await list.call(store as BreakerStore);
      await told.passed;
      return read;
    });
    const beside = breakers.mayDelete(other);
    await expect.poll(() => reading.mock.calls.length).toBe(1);
    stored.open();
    expect(await freezing).toBe(false);
    told.open();
    expect(await beside).toBe(false);
    expect(breakers.describe()).toContain(app);
    expect(await hear(breakers, 20, 1)).toBe(0);
  });
});

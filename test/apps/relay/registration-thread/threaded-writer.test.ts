import { existsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type MessagePort, Worker } from 'node:worker_threads';
import type { RelayDeviceId } from '@waxwing/protocol';
import { Secret } from '@waxwing/service/config';
import { DatabaseUnavailableError } from '@waxwing/storage';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KeyUseCounter } from '#relay/keyring/uses/key-use-counter.js';
import { readKeyUses } from '#relay/keyring/uses/key-uses.js';
import { openRelayDatabase } from '#relay/open-database.js';
import { startRegistrationThread } from '#relay/registration-thread/open-registration-writer.js';
import { ThreadedWriter } from '#relay/registration-thread/threaded-writer.js';
import type { RegistrationToWrite } from '#relay/registrations/write/registration-writer.js';
import { TransactionWriter } from '#relay/registrations/write/transaction-writer.js';
import { addServer } from '#relay/servers/manage-servers.js';
import type { RelayDatabase } from '#relay/tables.js';
import { endTick } from '#service/lifecycle/end-of-tick.js';
import { accountIdText, realmId } from '../../../support/ids.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { registrationThread } from '../../../support/registration-thread.js';
import { sqliteBackend } from '../../../support/test-databases.js';
import { realmUuid } from '../relay-under-test.js';

const now = 1_800_000_000_000;

function registration(account: number, changes: Partial<RegistrationToWrite> = {}): RegistrationToWrite {
  const row = {
    realm_id: realmId(1),
    push_account_id: accountIdText(account),
    token_kind: 'fcm',
    token_lookup: 'lookup',
    token: 'sealed',
    registered_at: now,
  };
  return { row, olderLookups: [], bouncerPublicKey: 'key', mark: undefined, sequence: undefined, ...changes };
}

const crowd = (first: number): RegistrationToWrite[] =>
  Array.from({ length: 16 }, (_, index) => registration(first + index));

/** Starts a worker that reports that it is ready, but never replies. */
function startSilent(answers: MessagePort): Worker {
  const program = `
    const { parentPort, workerData: answers } = require('node:worker_threads');
    parentPort.on('message', (order) => order === 'end' && parentPort.close());
    answers.postMessage('ready');`;
  return new Worker(program, { eval: true, execArgv: [], workerData: answers, transferList: [answers] });
}

/** Starts a worker that reports its system thread, replies to its first batch, and immediately exits. */
function startBrief(answers: MessagePort): Worker {
  const program = `
    const { parentPort, workerData: answers } = require('node:worker_threads');
    parentPort.postMessage(require('node:fs').readlinkSync('/proc/thread-self'));
    parentPort.once('message', () => {
      answers.postMessage([{ outcomes: [77] }]);
      process.exit();
    });
    answers.postMessage('ready');`;
  return new Worker(program, { eval: true, execArgv: [], workerData: answers, transferList: [answers] });
}

describe('the thread that writes registrations', () => {
  const backend = sqliteBackend();
  let url: Secret<string>;
  let database: RelayDatabase;
  let inline: TransactionWriter;
  let writer: ThreadedWriter;
  let threads: Worker[];
  let log: ReturnType<typeof createMemoryLog>;

  beforeEach(async () => {
    url = new Secret(await backend.freshUrl());
    database = await openRelayDatabase({ url, clock: Date.now, role: 'serving', onJobError: expect.fail });
    await addServer(database, { name: '', realmUuids: [realmUuid] }, 0);
    inline = new TransactionWriter({ database, keyUses: new KeyUseCounter(Math.random) });
    threads = [];
    log = createMemoryLog();
    writer = createWriter((answers) => startRegistrationThread(url, answers, registrationThread));
  });
  afterEach(async () => {
    await writer.close();
    await database.close();
  });

  function createWriter(start: (answers: MessagePort) => Worker): ThreadedWriter {
    const startThread = (answers: MessagePort): Worker => {
      const thread = start(answers);
      threads.push(thread);
      return thread;
    };
    return new ThreadedWriter({ database, log: log.log, inline, startThread });
  }

  /** Writes a large batch on the event loop, which starts the thread. Resolves when the thread is ready. */
  async function started(): Promise<readonly unknown[]> {
    const outcomes = await writer.write(crowd(1), now);
    await vi.waitUntil(() => writer.isIdle, { timeout: 50_000 });
    return outcomes;
  }

  /** Starts a write that holds the write lock until the test releases it. */
  async function holdTurn(): Promise<{ held: Promise<void>; release: () => void }> {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const write = vi.fn(() => released);
    const held = database.write(write);
    await vi.waitUntil(() => write.mock.calls.length === 1);
    return { held, release };
  }

  const said = () => log.lines().map(({ msg }) => msg);

  const devices = () =>
    database.db.selectFrom('relay_devices').select(['id', 'push_account_id']).orderBy('id').execute();

  it('starts when many registrations arrive in one batch, and commits later registrations', async () => {
    await writer.write([registration(100)], now);
    expect(threads).toHaveLength(0);
    const ids = (await started()) as readonly number[];
    expect(ids.toSorted((left, right) => left - right)).toEqual(Array.from(ids, (_, index) => index + 2));
    const write = vi.spyOn(inline, 'write');
    // The existing device keeps its id.
    const [id, again] = await writer.write([registration(101), registration(100)], now + 1);
    expect(again).toBe(1);
    expect(write).not.toHaveBeenCalled();
    expect(threads).toHaveLength(1);
    expect((await devices()).slice(-1)).toEqual([{ id, push_account_id: '101' }]);
    expect((await readKeyUses(database.db)).get('key')?.lastUsedAt).toBe(now + 1);
  });

  it('delivers its replies while the event loop is busy with sockets', async () => {
    await started();
    let ids: readonly unknown[] | undefined;
    void writer.write([registration(150)], now).then((outcomes) => {
      ids = outcomes;
    });
    const until = performance.now() + 10_000;
    while (ids === undefined && performance.now() < until) {
      endTick();
      // Runs only promise callbacks, as if sockets kept the event loop busy.
      await Promise.resolve();
    }
    expect(ids).toEqual([17]);
  });

  it('refuses the same registrations as the event loop', async () => {
    await started();
    const mark = { hash: 'hash', forgetAt: now };
    const elsewhere = registration(50, { mark });
    const row = { ...elsewhere.row, realm_id: realmId(2) };
    await addServer(database, { name: '', realmUuids: ['e502dde1-74fc-44b3-9e3a-114c41ed3ea4'] }, 0);
    expect(await writer.write([registration(50, { mark, sequence: 5 })], now)).toEqual([17]);
    expect(await writer.write([registration(50, { sequence: 4 }), { ...elsewhere, row }], now)).toEqual([
      'superseded',
      'presented-before',
    ]);
  });

  it('stores concurrent registrations in the order of their arrival', async () => {
    await started();
    const given = Array.from({ length: 30 }, (_, index) => writer.write([registration(1000 + index)], now));
    const ids = (await Promise.all(given)).flat() as RelayDeviceId[];
    expect(ids).toEqual([...ids].sort((left, right) => left - right));
    expect(new Set(ids).size).toBe(30);
  });

  it('alternates with other writers for the write lock', async () => {
    await started();
    const steps: string[] = [];
    const { held, release } = await holdTurn();
    const first = held.then(() => steps.push('before'));
    const second = writer.write([registration(200)], now).then(() => steps.push('thread'));
    const third = database.write(async ({ db }) => {
      const rows = db
        .selectFrom('relay_devices')
        .select('id')
        .where('push_account_id', '=', accountIdText(200));
      steps.push(`after, with ${(await rows.execute()).length}`);
    });
    release();
    await Promise.all([first, second, third]);
    expect(steps).toEqual(['before', 'thread', 'after, with 1']);
  });

  it('rejects a registration that cannot be stored, and stores the rest of its batch', async () => {
    await started();
    const [good, bad] = await Promise.allSettled([
      writer.write([registration(300)], now),
      writer.write([registration(301, { row: { ...registration(301).row, realm_id: realmId(99) } })], now),
    ]);
    expect(good).toEqual({ status: 'fulfilled', value: [17] });
    expect(bad).toMatchObject({ status: 'rejected', reason: { message: /FOREIGN KEY/ } });
    expect((bad as PromiseRejectedResult).reason).not.toBeInstanceOf(DatabaseUnavailableError);
  });

  it('rejects a write if the write lock is not available, and continues with the next write', async () => {
    await started();
    vi.spyOn(database, 'withWriteLock').mockRejectedValueOnce(
      new DatabaseUnavailableError('The log is full.'),
    );
    const refused = writer.write([registration(400)], now);
    await expect(refused).rejects.toThrow('The log is full.');
    expect(await writer.write([registration(400)], now)).toEqual([17]);
  });

  it('is replaced by the event loop when it exits, with one log line', async () => {
    writer = createWriter(startSilent);
    await started();
    const lost = writer.write([registration(500)], now);
    await nextTurn();
    const waiting = writer.write([registration(501)], now);
    const ended = expect(lost).rejects.toThrow(DatabaseUnavailableError);
    await threads[0]?.terminate();
    await ended;
    expect(await waiting).toEqual([17]);
    expect(await writer.write(crowd(600), now)).toHaveLength(16);
    expect(threads).toHaveLength(1);
    expect(said()).toEqual([
      'registrations are written on the event loop, because the worker thread ended or could not be started',
    ]);
  });

  it('does not keep the process alive', async () => {
    const ports = () => process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;
    const before = ports();
    await started();
    expect(ports()).toBe(before);
  });

  it('loses no reply that arrives before its exit event', async () => {
    let systemThread = '';
    writer = createWriter((answers) =>
      startBrief(answers).once('message', (link: string) => {
        systemThread = `/proc/${link}`;
      }),
    );
    await started();
    await vi.waitUntil(() => systemThread !== '');
    expect(existsSync(systemThread)).toBe(true);
    const written = writer.write([registration(550)], now);
    for (let ticks = 0; ticks < 10; ticks++) await Promise.resolve();
    // Blocks the event loop until the thread has ended, so that its reply and its exit event are both pending.
    while (existsSync(systemThread));
    expect(await written).toEqual([77]);
    await vi.waitUntil(() => !writer.isIdle);
  });

  it('leaves pending registrations to the event loop if it exits during the wait for the write lock', async () => {
    writer = createWriter(startSilent);
    await started();
    const { held, release } = await holdTurn();
    const waiting = writer.write([registration(650)], now);
    await threads[0]?.terminate();
    release();
    expect(await waiting).toEqual([17]);
    await held;
  });

  it('is replaced by the event loop if it cannot start', async () => {
    writer = createWriter(() => {
      throw new Error('no thread is left');
    });
    expect(await writer.write(crowd(700), now)).toHaveLength(16);
    expect(await writer.write(crowd(800), now)).toHaveLength(16);
    expect(said()).toHaveLength(1);
  });

  it('ends when the writer closes, and releases the database', async () => {
    await started();
    await writer.write([registration(900)], now);
    await writer.close();
    await database.close();
    database = await openRelayDatabase({ url, clock: Date.now, role: 'serving', onJobError: expect.fail });
    expect(await devices()).toHaveLength(17);
    expect(said()).toEqual([]);
  });
});

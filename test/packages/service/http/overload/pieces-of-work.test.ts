import type { AddressInfo } from 'node:net';
import type { JsonObject } from '@waxwing/protocol';
import { createHttpApp, ListAnswer, type RequestHead } from '@waxwing/service/http';
import type { HttpLimits } from '@waxwing/service/http-settings';
import { Metrics } from '@waxwing/service/metrics';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMemoryLog } from '../../../../support/memory-log.js';
import { type TestOperation, testOperation } from '../../../../support/test-operation.js';
import { authorization, RawConnection, request } from '../listening-app.js';

const ada = authorization('ada');
const bob = authorization('bob');
const streams = 30;
const chunksOfList = 8;

/** State of the chunks of `GET /list`. */
interface Work {
  made: number;
  /**
   * Functions that let streams continue after their first chunk, in order of creation. `undefined` if streams do not
   * wait.
   */
  readonly waiting: (() => void)[] | undefined;
}

function keepBusy(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

async function authenticate(head: RequestHead): Promise<void> {
  // Asynchronous like a database query: the following code runs in a later tick than the request.
  await new Promise((resolve) => setImmediate(resolve));
  head.setActor(head.basicCredentials().username);
}

/** Keeps a request in flight until the test ends it. */
async function hold({ waiting }: Work): Promise<JsonObject> {
  await new Promise<void>((resolve) => waiting?.push(resolve));
  return {};
}

function operations(work: Work): TestOperation[] {
  async function* chunks() {
    for (let count = 0; count < chunksOfList; count += 1) {
      keepBusy(5);
      work.made += 1;
      yield [count];
      if (work.waiting) await new Promise<void>((resolve) => work.waiting?.push(resolve));
    }
  }
  return [
    { method: 'GET', path: '/list', authenticate, handle: async () => new ListAnswer('list', chunks(), {}) },
    { method: 'GET', path: '/open', authenticate, handle: async () => ({}) },
    { method: 'GET', path: '/held', authenticate, handle: () => hold(work) },
    { method: 'GET', path: '/poll', authenticate, lane: () => undefined, handle: () => hold(work) },
    {
      method: 'GET',
      path: '/reading-poll',
      authenticate,
      lane: () => undefined,
      handle: (asked) => asked.runPiece(() => hold(work)),
    },
    {
      method: 'GET',
      path: '/render',
      authenticate,
      async handle(asked) {
        await asked.nextTick();
        keepBusy(20);
        return {};
      },
    },
  ];
}

/** Starts an app that does this work. Returns functions that send requests to it. */
async function start(work: Work, limits: Partial<HttpLimits> = {}, handlersPerActor?: number) {
  const metrics = new Metrics();
  const app = await createHttpApp({
    log: createMemoryLog().log,
    metrics,
    readiness: {},
    limits,
    closePatienceMilliseconds: 20,
    ...(handlersPerActor === undefined ? {} : { handlersPerActor }),
    operations: operations(work).map(testOperation),
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const opened: RawConnection[] = [];
  onTestFinished(async () => {
    for (const { socket } of opened) socket.destroy();
    await app.close();
  });
  /** Sends concurrent requests, each on a separate connection. */
  const sendAll = async (count: number, path: string, who: string): Promise<RawConnection[]> => {
    const all = await Promise.all(Array.from({ length: count }, () => RawConnection.open(port)));
    opened.push(...all);
    const open = opened.filter(({ socket }) => !socket.destroyed).length;
    await expect.poll(() => metrics.text()).toContain(`waxwing_http_connections ${open}\n`);
    return all.map((connection) => connection.send(request(`GET ${path}`, who)));
  };
  const send = async (path: string, who: string): Promise<RawConnection> => {
    const [connection] = (await sendAll(1, path, who)) as [RawConnection];
    return connection;
  };
  return { send, sendAll, metrics };
}

const isAnswered = ({ text }: RawConnection) => text.includes('\r\n0\r\n\r\n');

describe('a piece of work', () => {
  it('runs in the ticks of a streamed response’s client, however many responses the client streams', async () => {
    const work: Work = { made: 0, waiting: undefined };
    const { send, sendAll } = await start(work);
    let most = 0;
    let isOver = false;
    const watch = (before: number): void => {
      most = Math.max(most, work.made - before);
      if (!isOver) setImmediate(watch, work.made);
    };
    const sent = await sendAll(streams, '/list', ada);
    watch(work.made);
    await expect.poll(() => work.made).toBeGreaterThan(streams);
    const other = await send('/open', bob);
    await expect.poll(() => other.statuses).toEqual([200]);
    expect(work.made).toBeLessThan(streams * chunksOfList);
    await expect.poll(() => sent.every(isAnswered), { timeout: 20_000 }).toBe(true);
    isOver = true;
    expect(work.made).toBe(streams * chunksOfList);
    // A tick creates chunks for ten milliseconds, plus the chunks of requests that started in the same tick.
    expect(most).toBeLessThanOrEqual(6);
  });

  it('ends with its connection', async () => {
    const work: Work = { made: 0, waiting: [] };
    const { send, metrics } = await start(work);
    const { socket } = await send('/list', ada);
    await expect.poll(() => work.waiting).toHaveLength(1);
    socket.destroy();
    await expect.poll(() => metrics.text()).toContain('waxwing_http_requests_in_flight 0');
    work.waiting?.[0]?.();
    const other = await send('/open', bob);
    await expect.poll(() => other.statuses).toEqual([200]);
    // The current chunk is finished, and no further chunk is started.
    expect(work.waiting).toHaveLength(1);
    expect(work.made).toBeLessThanOrEqual(2);
  });

  it('counts toward the limit of the operation until the end of a streamed response', async () => {
    const work: Work = { made: 0, waiting: [] };
    const { send } = await start(work, { backlogMilliseconds: 0, minimumBacklog: 4 });
    for (let count = 1; count <= 4; count += 1) {
      await send('/list', ada);
      await expect.poll(() => work.waiting).toHaveLength(count);
    }
    const refused = await send('/list', ada);
    await expect.poll(() => refused.statuses).toEqual([503]);
    const elsewhere = await send('/open', ada);
    await expect.poll(() => elsewhere.statuses).toEqual([200]);
  });

  it('waits for a free slot of its actor, unless it is a poll', async () => {
    const work: Work = { made: 0, waiting: [] };
    const { send, sendAll } = await start(work, {}, 2);
    const sent = await sendAll(4, '/held', ada);
    await expect.poll(() => work.waiting).toHaveLength(2);
    await send('/poll', ada);
    await expect.poll(() => work.waiting).toHaveLength(3);
    const other = await send('/open', bob);
    await expect.poll(() => other.statuses).toEqual([200]);
    const own = await send('/open', ada);
    for (const end of work.waiting?.splice(0, 2) ?? []) end();
    await expect.poll(() => sent.flatMap(({ statuses }) => statuses)).toEqual([200, 200]);
    // The poll and one more request wait. Only one of them starts, because the first two requests took long.
    await expect.poll(() => work.waiting).toHaveLength(2);
    sent.at(-1)?.socket.destroy();
    expect(own.statuses).toEqual([]);
    const endAll = () => {
      for (const end of work.waiting?.splice(0) ?? []) end();
      return own.statuses;
    };
    await expect.poll(endAll).toEqual([200]);
  });

  it('waits for a free slot of its actor if it belongs to a poll, and does not delay others', async () => {
    const work: Work = { made: 0, waiting: [] };
    const { send, sendAll } = await start(work, {}, 2);
    const sent = await sendAll(4, '/reading-poll', ada);
    await expect.poll(() => work.waiting).toHaveLength(2);
    await send('/reading-poll', bob);
    await expect.poll(() => work.waiting).toHaveLength(3);
    const endAll = () => {
      for (const end of work.waiting?.splice(0) ?? []) end();
      return sent.flatMap(({ statuses }) => statuses);
    };
    await expect.poll(endAll).toEqual([200, 200, 200, 200]);
  });

  it('is refused before the response begins if it would wait for too long', async () => {
    const { sendAll, metrics } = await start(
      { made: 0, waiting: undefined },
      { backlogMilliseconds: 100, minimumBacklog: 4 },
    );
    const sent = await sendAll(60, '/render', ada);
    const statuses = () => sent.flatMap((each) => each.statuses);
    await expect.poll(statuses, { timeout: 20_000 }).toHaveLength(60);
    expect(new Set(statuses())).toEqual(new Set([200, 503]));
    expect(statuses().filter((status) => status === 200).length).toBeLessThan(30);
    const refusals = `waxwing_http_refusals_total{reason="overload"} ${statuses().filter((status) => status === 503).length}`;
    await expect.poll(() => metrics.text()).toContain(refusals);
  });
});

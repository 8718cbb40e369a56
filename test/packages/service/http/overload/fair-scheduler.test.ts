import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { FairScheduler } from '#service/http/overload/fair-scheduler.js';

const wait = () => new Promise((resolve) => setTimeout(resolve));

const patient = { backlogMilliseconds: 60_000, minimumBacklog: 1 };

const by = (isPipelined: boolean, client = 'ada') => ({ isPipelined, client });

function keepBusy(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

describe('the fair scheduler', () => {
  it('yields to sockets and timers after ten milliseconds', async () => {
    const scheduler = new FairScheduler(patient);
    let begun = 0;
    for (let count = 0; count < 60; count++) {
      scheduler.schedule(() => {
        begun += 1;
        keepBusy(3);
      }, by(false));
    }
    const begunAtOnce: number[] = [];
    while (begun < 60) {
      const before = begun;
      await wait();
      begunAtOnce.push(begun - before);
    }
    // Two ticks may occur between two timers.
    expect(Math.max(...begunAtOnce)).toBeLessThanOrEqual(10);
  });

  it('begins at most 256 tasks per tick', async () => {
    const scheduler = new FairScheduler(patient);
    let begun = 0;
    const task = () => {
      begun += 1;
    };
    for (let count = 0; count < 2000; count++) scheduler.schedule(task, by(count % 2 === 0));
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toBeLessThanOrEqual(256);
    while (begun < 2000) await wait();
  });

  it('alternates between pipelined and first requests, FIFO within each', async () => {
    const scheduler = new FairScheduler(patient);
    const order: string[] = [];
    const begin = (name: string, isPipelined: boolean) =>
      scheduler.schedule(() => void order.push(name), by(isPipelined));
    for (const name of ['a1', 'a2', 'a3', 'a4']) begin(name, true);
    for (const name of ['b1', 'b2']) begin(name, false);
    while (order.length < 6) await wait();
    expect(order).toEqual(['b1', 'a1', 'b2', 'a2', 'a3', 'a4']);
    begin('b3', false);
    begin('a5', true);
    begin('b4', false);
    while (order.length < 9) await wait();
    expect(order.slice(6)).toEqual(['b3', 'a5', 'b4']);
  });

  it('begins one poll in four tasks while other requests wait, and all polls otherwise', async () => {
    const scheduler = new FairScheduler(patient);
    const order: string[] = [];
    const begin = (name: string, isPoll: boolean) =>
      scheduler.schedule(() => void order.push(name), { ...by(false, name), isPoll });
    for (const name of ['p1', 'p2', 'p3', 'p4', 'p5']) begin(name, true);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7']) begin(name, false);
    while (order.length < 12) await wait();
    expect(order).toEqual(['a1', 'a2', 'a3', 'p1', 'a4', 'a5', 'a6', 'p2', 'a7', 'p3', 'p4', 'p5']);
  });

  it('does not refuse requests because polls are queued', async () => {
    const scheduler = new FairScheduler({ backlogMilliseconds: 0, minimumBacklog: 4 });
    const begun: string[] = [];
    let refused = 0;
    for (let count = 0; count < 20; count++) {
      scheduler.schedule(() => void begun.push('poll'), { ...by(false, `poller ${count}`), isPoll: true });
    }
    for (let count = 0; count < 4; count++) {
      const refuse = () => {
        refused += 1;
      };
      scheduler.schedule(() => keepBusy(2), { ...by(false, `client ${count}`), refuse });
    }
    while (begun.length < 20) await wait();
    expect(refused).toBe(0);
  });

  it('rotates over clients, so that a busy client does not delay the others', async () => {
    const scheduler = new FairScheduler(patient);
    const order: string[] = [];
    const begin = (name: string, client: string) =>
      scheduler.schedule(() => void order.push(name), by(false, client));
    for (const name of ['a1', 'a2', 'a3']) begin(name, 'ada');
    begin('b1', 'bob');
    begin('a4', 'ada');
    begin('b2', 'bob');
    while (order.length < 6) await wait();
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('refuses only the expired requests of a busy client', async () => {
    const scheduler = new FairScheduler({ backlogMilliseconds: 200, minimumBacklog: 4 });
    const begun: string[] = [];
    const refused: string[] = [];
    const begin = (client: string) => {
      const task = () => {
        begun.push(client);
        keepBusy(2);
      };
      scheduler.schedule(task, { ...by(false, client), refuse: () => void refused.push(client) });
    };
    // Together, these requests take one second.
    for (let count = 0; count < 500; count++) begin('ada');
    for (let other = 0; other < 10; other++) begin(`other${other}`);
    while (begun.length + refused.length < 510) await wait();
    expect(begun.filter((client) => client !== 'ada')).toHaveLength(10);
    expect(refused.every((client) => client === 'ada')).toBe(true);
    // About 100 requests begin within 200 ms, and a few more while the others are refused.
    expect(begun.length).toBeLessThan(200);
  });

  it('immediately refuses a client’s requests that cannot begin in time, and only this client’s', async () => {
    const scheduler = new FairScheduler({ backlogMilliseconds: 4000, minimumBacklog: 4 });
    let begun = 0;
    let isTried = false;
    const refused: string[] = [];
    const begin = (client: string): void => {
      const task = () => {
        begun += 1;
        if (!isTried) keepBusy(2);
      };
      scheduler.schedule(task, { ...by(false, client), refuse: () => void refused.push(client) });
    };
    // Nothing is refused yet, because no throughput has been measured.
    for (let count = 0; count < 5000; count++) begin('ada');
    while (begun < 20) await wait();
    expect(refused).toEqual([]);
    const before = begun;
    for (const client of ['ada', 'bob', 'ada']) begin(client);
    while (begun === before) await wait();
    expect(refused).toEqual(['ada', 'ada']);
    isTried = true;
  });

  it('refuses no request while few are queued, or without a refuse callback', async () => {
    const scheduler = new FairScheduler({ backlogMilliseconds: 0, minimumBacklog: 4 });
    let begun = 0;
    let refused = 0;
    const task = () => {
      begun += 1;
      keepBusy(1);
    };
    const refuse = () => {
      refused += 1;
    };
    for (let count = 0; count < 3; count++) scheduler.schedule(task, { ...by(false), refuse });
    while (begun < 3) await wait();
    for (let count = 0; count < 20; count++) scheduler.schedule(task, by(count % 2 === 0));
    while (begun < 23) await wait();
    expect(refused).toBe(0);
    for (let count = 0; count < 20; count++) scheduler.schedule(task, { ...by(count % 2 === 0), refuse });
    while (begun + refused < 43) await wait();
    expect(refused).toBeGreaterThan(10);
  });

  it('keeps no reference to begun or refused requests once the queue is empty', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const scheduler = new FairScheduler({ backlogMilliseconds: 0, minimumBacklog: 4 });
    let over = 0;
    const begin = (): WeakRef<object> => {
      const end = {
        over: () => {
          over += 1;
        },
      };
      scheduler.schedule(
        () => {
          keepBusy(1);
          end.over();
        },
        { ...by(false), refuse: () => end.over() },
      );
      return new WeakRef(end);
    };
    const kept = Array.from({ length: 40 }, begin);
    while (over < 40) await wait();
    // The last request's client is last in the rotation, and its request is refused before the others begin.
    let others = 0;
    const keepBusyToo = () => {
      keepBusy(1);
      others += 1;
    };
    for (const client of ['bob', 'carol', 'dan', 'eve']) scheduler.schedule(keepBusyToo, by(false, client));
    kept.push(begin());
    while (over < 41 || others < 4) await wait();
    await wait();
    collectGarbage();
    expect(kept.filter((reference) => reference.deref() !== undefined)).toHaveLength(0);
    expect(scheduler).toBeDefined();
  });
});

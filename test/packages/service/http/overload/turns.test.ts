import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Turns } from '#service/http/overload/turns.js';

const wait = () => new Promise((resolve) => setTimeout(resolve));

const patient = { backlogMilliseconds: 60_000, minimumBacklog: 1 };

const turn = (isFollowing: boolean, sender = 'ada') => ({ isFollowing, sender });

function keepBusy(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

describe('turns', () => {
  it('begin no more than takes ten milliseconds before sockets and timers are looked at', async () => {
    const turns = new Turns(patient);
    let begun = 0;
    for (let count = 0; count < 60; count++) {
      turns.begin(() => {
        begun += 1;
        keepBusy(3);
      }, turn(false));
    }
    const begunAtOnce: number[] = [];
    while (begun < 60) {
      const before = begun;
      await wait();
      begunAtOnce.push(begun - before);
    }
    // Two looks may lie between one timer and the next.
    expect(Math.max(...begunAtOnce)).toBeLessThanOrEqual(10);
  });

  it('begin no more than 256 however short they are', async () => {
    const turns = new Turns(patient);
    let begun = 0;
    const act = () => {
      begun += 1;
    };
    for (let count = 0; count < 2000; count++) turns.begin(act, turn(count % 2 === 0));
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toBeLessThanOrEqual(256);
    while (begun < 2000) await wait();
  });

  it('are given to those who follow and to those who do not alternately, in their order', async () => {
    const turns = new Turns(patient);
    const order: string[] = [];
    const begin = (name: string, isFollowing: boolean) =>
      turns.begin(() => void order.push(name), turn(isFollowing));
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

  it('are given to all senders in turn, so that one who asks for little does not wait for one who asks for much', async () => {
    const turns = new Turns(patient);
    const order: string[] = [];
    const begin = (name: string, sender: string) =>
      turns.begin(() => void order.push(name), turn(false, sender));
    for (const name of ['a1', 'a2', 'a3']) begin(name, 'ada');
    begin('b1', 'bob');
    begin('a4', 'ada');
    begin('b2', 'bob');
    while (order.length < 6) await wait();
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('are refused to whoever waits too long behind itself, and to nobody who asks for little', async () => {
    const turns = new Turns({ backlogMilliseconds: 200, minimumBacklog: 4 });
    const begun: string[] = [];
    const refused: string[] = [];
    const begin = (sender: string) => {
      const act = () => {
        begun.push(sender);
        keepBusy(2);
      };
      turns.begin(act, { ...turn(false, sender), refuse: () => void refused.push(sender) });
    };
    // A second's worth of work.
    for (let count = 0; count < 500; count++) begin('ada');
    for (let other = 0; other < 10; other++) begin(`other${other}`);
    while (begun.length + refused.length < 510) await wait();
    expect(begun.filter((sender) => sender !== 'ada')).toHaveLength(10);
    expect(refused.every((sender) => sender === 'ada')).toBe(true);
    // A fifth of a second's, and a few while the others are refused.
    expect(begun.length).toBeLessThan(200);
  });

  it('are refused soon to whoever has more in line than begins in time, and to nobody else', async () => {
    const turns = new Turns({ backlogMilliseconds: 4000, minimumBacklog: 4 });
    let begun = 0;
    let isTried = false;
    const refused: string[] = [];
    const begin = (sender: string): void => {
      const act = () => {
        begun += 1;
        if (!isTried) keepBusy(2);
      };
      turns.begin(act, { ...turn(false, sender), refuse: () => void refused.push(sender) });
    };
    // How long one takes is not known yet.
    for (let count = 0; count < 5000; count++) begin('ada');
    while (begun < 20) await wait();
    expect(refused).toEqual([]);
    const before = begun;
    for (const sender of ['ada', 'bob', 'ada']) begin(sender);
    while (begun === before) await wait();
    expect(refused).toEqual(['ada', 'ada']);
    isTried = true;
  });

  it('are refused neither where few wait, nor to what must have its turn', async () => {
    const turns = new Turns({ backlogMilliseconds: 0, minimumBacklog: 4 });
    let begun = 0;
    let refused = 0;
    const act = () => {
      begun += 1;
      keepBusy(1);
    };
    const refuse = () => {
      refused += 1;
    };
    for (let count = 0; count < 3; count++) turns.begin(act, { ...turn(false), refuse });
    while (begun < 3) await wait();
    for (let count = 0; count < 20; count++) turns.begin(act, turn(count % 2 === 0));
    while (begun < 23) await wait();
    expect(refused).toBe(0);
    for (let count = 0; count < 20; count++) turns.begin(act, { ...turn(count % 2 === 0), refuse });
    while (begun + refused < 43) await wait();
    expect(refused).toBeGreaterThan(10);
  });

  it('keep nothing of what has begun or was refused once nothing waits', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const turns = new Turns({ backlogMilliseconds: 0, minimumBacklog: 4 });
    let over = 0;
    const begin = (): WeakRef<object> => {
      const end = {
        over: () => {
          over += 1;
        },
      };
      turns.begin(
        () => {
          keepBusy(1);
          end.over();
        },
        { ...turn(false), refuse: () => end.over() },
      );
      return new WeakRef(end);
    };
    const kept = Array.from({ length: 40 }, begin);
    while (over < 40) await wait();
    // The last one is refused before the others begin, and its sender's turn would come after theirs.
    let others = 0;
    const keepBusyToo = () => {
      keepBusy(1);
      others += 1;
    };
    for (const sender of ['bob', 'carol', 'dan', 'eve']) turns.begin(keepBusyToo, turn(false, sender));
    kept.push(begin());
    while (over < 41 || others < 4) await wait();
    await wait();
    collectGarbage();
    expect(kept.filter((reference) => reference.deref() !== undefined)).toHaveLength(0);
    expect(turns).toBeDefined();
  });
});

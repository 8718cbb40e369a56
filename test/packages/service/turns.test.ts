import { describe, expect, it } from 'vitest';
import { Turns } from '#service/http/turns.js';

const wait = () => new Promise((resolve) => setTimeout(resolve));

function keepBusy(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

describe('turns', () => {
  it('begin no more than takes ten milliseconds before sockets and timers are looked at', async () => {
    const turns = new Turns();
    let begun = 0;
    for (let count = 0; count < 60; count++) {
      turns.begin(() => {
        begun += 1;
        keepBusy(3);
      }, false);
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
    const turns = new Turns();
    let begun = 0;
    const act = () => {
      begun += 1;
    };
    for (let count = 0; count < 2000; count++) turns.begin(act, count % 2 === 0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toBeLessThanOrEqual(256);
    while (begun < 2000) await wait();
  });

  it('are given to those who follow and to those who do not alternately, in their order', async () => {
    const turns = new Turns();
    const order: string[] = [];
    const begin = (name: string, isFollowing: boolean) =>
      turns.begin(() => void order.push(name), isFollowing);
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
});

import { expect, it } from 'vitest';
import { SendGate } from '#relay/deliveries/vendors/send-gate.js';

const time = { now: 1000 };

it('the gate limits concurrency, admits queued requests in order, and refuses late requests', async () => {
  const gate = new SendGate(2, () => time.now);
  expect([gate.enter(5000, 'one'), gate.enter(5000, 'one')]).toEqual([true, true]);
  const entered: string[] = [];
  const wait = (name: string, notAfter: number) =>
    Promise.resolve(gate.enter(notAfter, 'one')).then((isAdmitted) => {
      entered.push(`${name} ${isAdmitted}`);
    });
  const waiting = [wait('first', 5000), wait('hasty', 1500), wait('second', 5000), wait('third', 5000)];
  await Promise.resolve();
  expect(entered).toEqual([]);
  gate.leave('one');
  await waiting[0];
  expect(entered).toEqual(['first true']);
  time.now = 2000;
  gate.leave('one');
  await Promise.all(waiting.slice(0, 3));
  expect(entered).toEqual(['first true', 'hasty false', 'second true']);
  gate.leave('one');
  await waiting[3];
  // The limit is unchanged after all requests have left.
  gate.leave('one');
  gate.leave('one');
  expect([gate.enter(5000, 'one'), gate.enter(5000, 'one')]).toEqual([true, true]);
  expect(gate.enter(5000, 'one')).toBeInstanceOf(Promise);
});

it('the gate keeps the order of thousands of queued requests', async () => {
  const gate = new SendGate(1, () => time.now);
  expect(gate.enter(5000, 'one')).toBe(true);
  const entered: number[] = [];
  const waiting = Array.from({ length: 3000 }, async (_, index) => {
    await gate.enter(5000, 'one');
    entered.push(index);
    gate.leave('one');
  });
  gate.leave('one');
  await Promise.all(waiting);
  expect(entered).toEqual(Array.from({ length: 3000 }, (_, index) => index));
});

it('the gate admits servers round-robin, so that a busy server does not delay others', async () => {
  const gate = new SendGate(1, () => time.now);
  expect(gate.enter(5000, 'crowd')).toBe(true);
  const entered: string[] = [];
  const waiting = ['crowd', 'crowd', 'crowd', 'modest', 'crowd', 'modest'].map(async (server) => {
    await gate.enter(5000, server);
    entered.push(server);
    gate.leave(server);
  });
  gate.leave('crowd');
  await Promise.all(waiting);
  expect(entered).toEqual(['crowd', 'modest', 'crowd', 'modest', 'crowd', 'crowd']);
});

it('the gate skips late requests without skipping their server', async () => {
  time.now = 1000;
  const gate = new SendGate(1, () => time.now);
  expect(gate.enter(5000, 'first')).toBe(true);
  const entered: string[] = [];
  const wait = async (name: string, server: string, notAfter: number) => {
    if (await gate.enter(notAfter, server)) entered.push(name);
  };
  const late = [1, 2, 3].map(() => wait('late', 'crowd', 1500));
  const waiting = [wait('fresh', 'crowd', 5000), wait('other', 'modest', 5000), wait('last', 'modest', 5000)];
  time.now = 2000;
  for (const each of waiting) {
    gate.leave('one');
    await Promise.race([each, Promise.all(late)]);
  }
  await Promise.all([...waiting, ...late]);
  expect(entered).toEqual(['fresh', 'other', 'last']);
});

it('a gate with a limit per server keeps slots and queue entries free for others', async () => {
  const gate = new SendGate(
    4,
    () => time.now,
    () => 4,
    2,
  );
  expect([gate.enter(5000, 'crowd'), gate.enter(5000, 'crowd')]).toEqual([true, true]);
  const waiting = [gate.enter(5000, 'crowd'), gate.enter(5000, 'crowd')];
  expect(await gate.enter(5000, 'crowd')).toBe(false);
  expect([gate.enter(5000, 'modest'), gate.enter(5000, 'modest')]).toEqual([true, true]);
  const other = gate.enter(5000, 'modest');
  // The free slot goes to a queued request of `crowd`, because `modest` already has its fair share.
  gate.leave('crowd');
  expect(await waiting[0]).toBe(true);
  gate.leave('modest');
  expect(await other).toBe(true);
  gate.leave('crowd');
  expect(await waiting[1]).toBe(true);
});

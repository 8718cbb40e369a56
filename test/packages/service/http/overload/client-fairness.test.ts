import { AddressRanges, type HttpLimits } from '@waxwing/service/http-settings';
import { afterEach, describe, expect, it } from 'vitest';
import { authorization, ListeningApp, type RawConnection, request } from '../listening-app.js';

let app: ListeningApp;
const ada = authorization('ada');
const crowdSize = 120;
/**
 * Number of the crowd's requests that precede the other clients' requests: more than can start in time. The rest of the
 * crowd's requests follow.
 */
const crowdBefore = 90;
const elsewhere = '127.0.0.2';
const ask = `${ada}content-length: 0\r\n`;
// Each of the crowd's requests takes five milliseconds.
const small = { backlogMilliseconds: 200, minimumBacklog: 4 };

async function start(limits: Partial<HttpLimits> = small, closePatienceMilliseconds = 20): Promise<void> {
  app = await ListeningApp.start(limits, closePatienceMilliseconds);
}

/** Opens connections, and waits until all are accepted. */
async function connections(count: number, localAddress?: string): Promise<RawConnection[]> {
  const [before = 0] = await app.counts();
  const opened = await Promise.all(Array.from({ length: count }, () => app.connect(localAddress)));
  await expect.poll(async () => (await app.counts())[0]).toBe(before + count);
  return opened;
}

/** Returns the first status received on each connection. */
async function answered(crowd: readonly RawConnection[]): Promise<number[]> {
  const first = () => crowd.flatMap(({ statuses }) => statuses.slice(0, 1));
  await expect.poll(first).toHaveLength(crowd.length);
  return first();
}

/** Splits connections into groups that are small enough to be served without refusals. */
function inGroups(all: readonly RawConnection[]): RawConnection[][] {
  const size = 20;
  return Array.from({ length: Math.ceil(all.length / size) }, (_, group) =>
    all.slice(group * size, (group + 1) * size),
  );
}

afterEach(() => app.close());

describe('fair shares of event-loop time', () => {
  it('treat all unauthenticated clients of an address as one, whatever credentials they invent', async () => {
    await start();
    const crowd = await connections(crowdSize, elsewhere);
    const others = await connections(5);
    for (const [index, connection] of crowd.entries()) {
      if (index === crowdBefore) for (const other of others) other.send(request('POST /body', ask));
      connection.send(request('GET /busy', authorization(`invented${index}`, 'wrong')));
    }
    expect(await answered(crowd)).toContain(503);
    expect(await answered(others)).toEqual([200, 200, 200, 200, 200]);
  });

  it('separate a connection’s authenticated actor from unauthenticated clients of its address', async () => {
    await start();
    const crowd = await connections(crowdSize);
    const known = await connections(5);
    for (const connection of known) connection.send(request('POST /body', ask));
    expect(await answered(known)).toEqual([200, 200, 200, 200, 200]);
    for (const [index, unknown] of crowd.entries()) {
      if (index === crowdBefore) for (const connection of known) connection.send(request('POST /body', ask));
      unknown.send(request('GET /busy'));
    }
    expect(await answered(crowd)).toContain(503);
    for (const connection of known) await expect.poll(() => connection.statuses).toEqual([200, 200]);
  });

  it('belong to the last authenticated actor of a connection', async () => {
    await start();
    const crowd = await connections(crowdSize);
    const handedOn = await connections(5);
    for (const some of [...inGroups(crowd), handedOn]) {
      for (const connection of some) connection.send(request('POST /body', ask));
      expect(new Set(await answered(some))).toEqual(new Set([200]));
    }
    const asBob = request('POST /body', `${authorization('bob')}content-length: 0\r\n`);
    for (const connection of handedOn) connection.send(asBob);
    for (const connection of handedOn) await expect.poll(() => connection.statuses).toEqual([200, 200]);
    for (const [index, connection] of crowd.entries()) {
      if (index === crowdBefore) for (const one of handedOn) one.send(asBob);
      connection.send(request('GET /busy'));
    }
    await expect.poll(() => crowd.map(({ statuses }) => statuses[1])).not.toContain(undefined);
    expect(crowd.map(({ statuses }) => statuses[1])).toContain(503);
    for (const connection of handedOn) await expect.poll(() => connection.statuses).toEqual([200, 200, 200]);
  });

  it('belong to the forwarded address behind a trusted proxy, not to earlier actors of the connection', async () => {
    await start({ ...small, trustedProxies: new AddressRanges(['127.0.0.0/8']) });
    const from = (address: string) => `x-forwarded-for: ${address}\r\n`;
    const crowd = await connections(crowdSize);
    const shared = await connections(5);
    const [other] = (await connections(1)) as [RawConnection];
    for (const connection of shared) connection.send(request('POST /body', ask + from('198.51.100.1')));
    expect(await answered(shared)).not.toContain(503);
    const unknown = request('GET /busy', from('2001:db8:1:2::3'));
    for (const connection of crowd.slice(0, crowdBefore)) connection.send(unknown);
    for (const connection of shared) connection.send(request('GET /open', from('2001:db8:1:2::4')));
    for (const connection of crowd.slice(crowdBefore)) connection.send(unknown);
    other.send(request('GET /open', from('198.51.100.2')));
    await answered(crowd);
    await expect.poll(() => shared.map(({ statuses }) => statuses[1])).toContain(503);
    await expect.poll(() => other.statuses).toEqual([200]);
  });

  it('are split between the addresses that request health', async () => {
    await start();
    const health = request('GET /health/live');
    const crowd = await connections(300, elsewhere);
    const [probe] = (await connections(1)) as [RawConnection];
    let before = 0;
    probe.socket.once('data', () => {
      before = crowd.filter(({ statuses }) => statuses.length > 0).length;
    });
    for (const connection of crowd) connection.send(health);
    probe.send(health);
    expect(new Set(await answered([probe, ...crowd]))).toEqual(new Set([200]));
    expect(before).toBeLessThan(crowd.length / 2);
  });

  it('separate health from other requests of the same address', async () => {
    // The default limits do not refuse the crowd's requests, so another request could wait behind all of them.
    await start({});
    const crowd = await connections(crowdSize);
    const [probe] = (await connections(1)) as [RawConnection];
    let before = 0;
    probe.socket.once('data', () => {
      before = crowd.filter(({ statuses }) => statuses.length > 0).length;
    });
    for (const connection of crowd) connection.send(request('GET /busy'));
    probe.send(request('GET /health/live'));
    expect(await answered([probe])).toEqual([200]);
    await answered(crowd);
    expect(before).toBeLessThan(crowd.length / 2);
  });
});

it('shutdown does not wait for connections with shed requests', async () => {
  await start({ backlogMilliseconds: 0, minimumBacklog: 4 }, 600_000);
  const crowd = await connections(300);
  for (const connection of crowd) connection.send(request('GET /busy'));
  const isAnswered = ({ statuses }: RawConnection): boolean => statuses.length > 0;
  await expect.poll(() => crowd.some(isAnswered), { interval: 1 }).toBe(true);
  expect(crowd.every(isAnswered)).toBe(false);
  await app.closeItself();
});

it('requests that are queued at shutdown get a 503', async () => {
  await start({}, 600_000);
  const crowd = await connections(60);
  for (const connection of crowd) connection.send(request('GET /busy'));
  await expect.poll(() => app.handled, { interval: 1 }).toBeGreaterThan(0);
  await app.closeItself();
  await Promise.all(crowd.map(({ closed }) => closed));
  const refused = crowd.filter(({ statuses }) => statuses[0] === 503);
  expect(refused).not.toEqual([]);
  for (const { text } of refused) {
    expect(text.toLowerCase()).toContain('connection: close\r\n');
    expect(text).toContain('retry-after: 1\r\n');
    expect(text).toContain('"code":"SERVICE_UNAVAILABLE"');
  }
});

it('shutdown waits neither for unused connections nor for connections with their last response', async () => {
  await start({}, 600_000);
  const [, held] = (await connections(2)) as [RawConnection, RawConnection];
  held.send(request('GET /held', ada));
  await expect.poll(() => app.held).toHaveLength(1);
  await app.closeItself();
  await held.closed;
  expect(held.text.toLowerCase()).toContain('connection: close\r\n');
});

it('a connection survives a body that is too large, if the rest of the body arrives soon', async () => {
  await start({});
  const [connection] = (await connections(1)) as [RawConnection];
  const tooLarge = `${ada}content-type: application/x-www-form-urlencoded\r\ncontent-length: 2000\r\n`;
  connection.send(request('POST /body', tooLarge, 'x'.repeat(2000)));
  await expect.poll(() => connection.statuses).toEqual([413]);
  connection.send(request('GET /open'));
  await expect.poll(() => connection.statuses).toEqual([413, 200]);
});

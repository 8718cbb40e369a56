import { createHttpApp } from '@waxwing/service/http';
import type { HttpLimits } from '@waxwing/service/http-settings';
import { Metrics } from '@waxwing/service/metrics';
import { afterEach, describe, expect, it } from 'vitest';
import fc from '../../../../support/fast-check.js';
import { createMemoryLog } from '../../../../support/memory-log.js';
import { testOperation } from '../../../../support/test-operation.js';
import { authorization, ListeningApp, type RawConnection, request } from '../listening-app.js';

let app: ListeningApp;
const ada = authorization('ada');
const bob = authorization('bob');

async function start(limits: Partial<HttpLimits> = {}): Promise<void> {
  app = await ListeningApp.start(limits);
}

async function send(text: string): Promise<RawConnection> {
  return (await app.connect()).send(text);
}

const refusals = (reason: string) => app.metric('waxwing_http_refusals_total', `{reason="${reason}"}`);
const form = 'content-type: application/x-www-form-urlencoded\r\n';

afterEach(() => app.close());

describe('requests in flight', () => {
  it('are capped per actor, so that one actor does not block others', async () => {
    await start({ maximumRequestsInFlight: 5, maximumRequestsPerActor: 2 });
    for (const count of [1, 2]) {
      await send(request('GET /held', ada));
      await expect.poll(() => app.held).toHaveLength(count);
    }
    const refused = await send(request('GET /held', ada));
    await expect.poll(() => refused.statuses).toEqual([429]);
    expect(refused.text).toContain('retry-after: 1\r\n');
    expect(refused.text).toContain('"code":"RATE_LIMIT_HIT"');
    await send(request('GET /held', bob));
    await expect.poll(() => app.held).toHaveLength(3);
    app.held[0]?.end();
    await send(request('GET /held', ada));
    await expect.poll(() => app.held).toHaveLength(4);
    expect(await refusals('actor-requests')).toBe(1);
  });

  it('are capped in total', async () => {
    await start({ maximumRequestsInFlight: 1 });
    await send(request('GET /held', ada));
    await expect.poll(() => app.held).toHaveLength(1);
    const refused = await send(request('GET /held', bob));
    await expect.poll(() => refused.statuses).toEqual([503]);
    expect(refused.text).toContain('retry-after: 1');
    expect(await refusals('requests')).toBe(1);
  });

  it('complete early when a newer request of the same actor and lane takes their slot', async () => {
    await start({ maximumRequestsInFlight: 1 });
    const sent: RawConnection[] = [];
    for (const count of [1, 2, 3]) {
      sent.push(await send(request('GET /lane?lane=1', ada)));
      await expect.poll(() => app.held).toHaveLength(count);
    }
    await expect.poll(() => sent.map(({ statuses }) => statuses)).toEqual([[200], [200], []]);
    expect(await app.counts()).toEqual([3, 1, 0]);
    const other = await send(request('GET /lane?lane=1', bob));
    await expect.poll(() => other.statuses).toEqual([503]);
    expect(sent[2]?.statuses).toEqual([]);
  });

  it('count neither requests with wrong credentials nor idle connections', async () => {
    await start({ maximumRequestsInFlight: 1 });
    for (let count = 0; count < 5; count += 1) await app.connect();
    const wrong = await send(request('GET /held', authorization('ada', 'wrong')));
    await expect.poll(() => wrong.statuses).toEqual([401]);
    expect(await app.counts()).toEqual([6, 0, 0]);
  });
});

describe('request bodies', () => {
  it('are capped in bytes, per actor and in total', async () => {
    await start({ maximumBodyBytesInFlight: 2000 });
    const half = (who: string, length: number) =>
      send(request('POST /body', `${who}content-length: ${length}\r\n`, 'x'));
    await half(ada, 900);
    await expect.poll(() => app.counts()).toEqual([1, 1, 900]);
    const tooMuchOfAda = await half(ada, 10);
    await expect.poll(() => tooMuchOfAda.statuses).toEqual([429]);
    await half(bob, 900);
    await expect.poll(() => app.counts()).toEqual([3, 2, 1800]);
    const tooMuch = await half(authorization('eve'), 900);
    await expect.poll(() => tooMuch.statuses).toEqual([503]);
    expect(tooMuch.text).toContain('retry-after: 1');
    expect([await refusals('actor-body-bytes'), await refusals('body-bytes')]).toEqual([1, 1]);
  });

  it('above the limit are accepted one at a time, and block only other bodies', async () => {
    await start({ maximumBodyBytesInFlight: 500 });
    const half = (who: string, length: number) =>
      send(request('POST /body', `${who}content-length: ${length}\r\n`, 'x'));
    await half(ada, 900);
    await expect.poll(() => app.counts()).toEqual([1, 1, 900]);
    const other = await half(bob, 1);
    await expect.poll(() => other.statuses).toEqual([503]);
    await send(request('GET /held', bob));
    await send(request('GET /held', ada));
    await expect.poll(() => app.counts()).toEqual([4, 3, 900]);
  });

  it('without a length count as their maximum', async () => {
    await start();
    await send(request('POST /body', `${ada}transfer-encoding: chunked\r\n`, '1\r\nx\r\n'));
    await expect.poll(() => app.counts()).toEqual([1, 1, 1000]);
  });

  it('from unauthenticated clients count their bytes, and take a slot once they are complete', async () => {
    await start();
    const connection = await send(request('POST /anybody', `${form}content-length: 2\r\n`, 'a'));
    await expect.poll(() => app.counts()).toEqual([1, 0, 2]);
    connection.send('b');
    await expect.poll(() => connection.statuses).toEqual([200]);
    await expect.poll(() => app.counts()).toEqual([1, 0, 0]);
  });

  it('from unauthenticated clients get a sixteenth of the bytes per address, and a quarter in total', async () => {
    await start({ maximumBodyBytesInFlight: 16_000 });
    const half = async (path: string, bytes: number, from: number) =>
      (await app.connect(`127.0.0.${from}`)).send(
        request(`POST ${path}`, `${form}content-length: ${bytes}\r\n`, 'a'),
      );
    await half('/anybody', 600, 2);
    await expect.poll(() => app.counts()).toEqual([1, 0, 600]);
    const ofOneAddress = await half('/spectator', 401, 2);
    await expect.poll(() => ofOneAddress.statuses).toEqual([503]);
    // Without an actor, a request does not replace an earlier request in the same lane.
    for (const address of [3, 4, 5]) await half('/spectator?lane=1', 1000, address);
    await expect.poll(() => app.counts()).toEqual([5, 0, 3600]);
    const ofAll = await half('/anybody', 401, 6);
    await expect.poll(() => ofAll.statuses).toEqual([503]);
    expect(await refusals('body-bytes')).toBe(2);
    await send(request('POST /body', `${ada}content-length: 1000\r\n`, 'a'));
    await expect.poll(() => app.counts()).toEqual([7, 1, 4600]);
  });

  it('are counted if the client aborts them, and are not logged as errors', async () => {
    await start();
    const headers = [
      `${form}content-length: 9\r\n`,
      'content-type: multipart/form-data; boundary=x\r\ncontent-length: 9\r\n',
    ];
    for (const header of [...headers, 'transfer-encoding: chunked\r\n']) {
      const { socket } = await send(request('POST /body', ada + header, '1\r\nx\r\n'));
      await expect.poll(async () => (await app.counts())[1]).toBe(1);
      socket.destroy();
      await expect.poll(() => app.counts()).toEqual([0, 0, 0]);
    }
    expect(await app.metric('waxwing_http_aborted_total')).toBe(3);
    const levels = app.logged.lines().map(({ level }) => level);
    expect(levels.filter((level) => level === 'debug')).toHaveLength(3);
    expect(levels).not.toContain('error');
    expect(app.logged.text()).not.toContain('stack');
  });
});

describe('a multipart form in chunks', () => {
  const part = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n';
  it.each([
    ['empty parts', '', part.repeat(100)],
    ['a preamble', '', `${'x'.repeat(5000)}\r\n${part}--x--\r\n`],
    ['an epilogue', part, `--x--\r\n${'x'.repeat(5000)}`],
    ['part headers', '', `--x\r\n${'x-much: 1\r\n'.repeat(1000)}`],
  ])('is not read beyond its limit: %s', async (_what, first, text) => {
    await start({ unreadBodyTimeoutMilliseconds: 50 });
    const headers = `${ada}content-type: multipart/form-data; boundary=x\r\ntransfer-encoding: chunked\r\n`;
    const connection = await send(request('POST /body', headers));
    for (const chunk of [first, text].filter((chunk) => chunk !== '')) {
      connection.send(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    }
    await expect.poll(() => connection.statuses).toEqual([413]);
    await connection.closed;
    expect(app.handled).toBe(0);
  });
});

type Step =
  | 'open'
  | 'held'
  | 'lane'
  | 'wrong'
  | 'half head'
  | 'half body'
  | 'chunks'
  | 'rest'
  | 'answer'
  | 'close'
  | 'reset';
const texts: Partial<Record<Step, string>> = {
  open: request('GET /open'),
  held: request('GET /held', ada),
  lane: request('GET /lane?lane=1', ada),
  wrong: request('POST /body', `${authorization('ada', 'wrong')}content-length: 5\r\n`, 'abc'),
  'half head': 'GET /open HTTP/1.1\r\nhost: x\r\nx-rest: ',
  'half body': request('POST /body', `${bob}content-length: 8\r\n`, 'abc'),
  chunks: request('POST /body', `${bob}transfer-encoding: chunked\r\n`, '3\r\nabc\r\n'),
  rest: 'de\r\n\r\n',
};
const steps: Step[] = [
  'open',
  'held',
  'lane',
  'wrong',
  'half head',
  'half body',
  'chunks',
  'rest',
  'answer',
  'close',
  'reset',
];

describe('connections, for any order of events', () => {
  it('release all slots and bytes at their end', async () => {
    await start({ maximumRequestsInFlight: 6, maximumRequestsPerActor: 4, maximumConnections: 8 });
    const step = fc.record({ at: fc.nat(9), step: fc.constantFrom(...steps), settles: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (script) => {
        const connections = new Map<number, RawConnection>();
        for (const { at, step, settles } of script) {
          const connection = connections.get(at) ?? (await app.connect());
          connections.set(at, connection);
          act(connection, step);
          if (step === 'close' || step === 'reset') connections.delete(at);
          if (settles) await new Promise((resolve) => setImmediate(resolve));
        }
        for (const { socket } of connections.values()) socket.destroy();
        await expect.poll(() => app.counts(), { interval: 5 }).toEqual([0, 0, 0]);
      }),
      { numRuns: 150 },
    );
    expect(app.logged.lines().filter(({ level }) => level === 'error')).toEqual([]);
  }, 120_000);

  function act({ socket }: RawConnection, step: Step): void {
    if (step === 'close') socket.end();
    else if (step === 'reset') socket.resetAndDestroy();
    else if (step === 'answer') app.held.shift()?.end();
    else socket.write(texts[step] ?? '');
  }
});

it('an injected request holds its slot until its response', async () => {
  await start();
  const metrics = new Metrics();
  const operation = testOperation({ method: 'GET', path: '/one', handle: async () => ({}) });
  const options = { log: createMemoryLog().log, metrics, operations: [operation], readiness: {} };
  const injected = await createHttpApp({ ...options, limits: { maximumRequestsInFlight: 1 } });
  for (let count = 0; count < 3; count += 1) expect((await injected.inject('/one')).statusCode).toBe(200);
  await injected.close();
});

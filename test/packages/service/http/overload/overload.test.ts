import { AddressRanges, type HttpLimits } from '@waxwing/service/http-settings';
import { afterEach, describe, expect, it } from 'vitest';
import { authorization, ListeningApp, type RawConnection, request } from '../listening-app.js';

let app: ListeningApp;
const ada = authorization('ada');
const bob = authorization('bob');
// Limits with which every response is late.
const small = { backlogMilliseconds: 0, minimumBacklog: 4 };

async function start(limits: Partial<HttpLimits> = small): Promise<void> {
  app = await ListeningApp.start(limits);
}

async function send(text: string): Promise<RawConnection> {
  return (await app.connect()).send(text);
}

/** Starts requests that stay in flight until the test ends them. */
async function hold(count: number, who: string): Promise<RawConnection[]> {
  const held = app.held.length;
  const sent: RawConnection[] = [];
  for (let begun = 1; begun <= count; begun += 1) {
    sent.push(await send(request('GET /held', who)));
    await expect.poll(() => app.held.length).toBe(held + begun);
  }
  return sent;
}

const refusals = () => app.metric('waxwing_http_refusals_total', '{reason="overload"}');

afterEach(() => app.close());

describe('an overloaded operation', () => {
  it('refuses the client with the most requests, and serves other clients', async () => {
    await start();
    const held = await hold(4, ada);
    const refused = await send(request('GET /held', ada));
    await expect.poll(() => refused.statuses).toEqual([503]);
    expect(refused.text).toContain('retry-after: 1\r\n');
    expect(refused.text).toContain('"code":"SERVICE_UNAVAILABLE"');
    expect(await refusals()).toBe(1);
    const [other] = await hold(1, bob);
    expect(app.held).toHaveLength(5);
    const health = await send(request('GET /health/live'));
    await expect.poll(() => health.statuses).toEqual([200]);
    const elsewhere = await send(request('POST /body', `${ada}content-length: 0\r\n`));
    await expect.poll(() => elsewhere.statuses).toEqual([200]);
    for (const { end } of app.held) end();
    for (const one of [...held, other]) await expect.poll(() => one?.statuses).toEqual([200]);
    const [again] = await hold(1, ada);
    app.held.at(-1)?.end();
    await expect.poll(() => again?.statuses).toEqual([200]);
    expect(await refusals()).toBe(1);
  });

  it('refuses a request without reading its body', async () => {
    await start();
    const half = `${ada}content-type: application/x-www-form-urlencoded\r\ncontent-length: 9\r\n`;
    // A request whose body has not arrived does not count as late.
    for (let sent = 1; sent <= 3; sent += 1) {
      await send(request('POST /body', half, 'half'));
      await expect.poll(async () => (await app.counts())[1]).toBe(sent);
    }
    expect(await refusals()).toBe(0);
    const held = await hold(4, ada);
    const refused = await send(request('GET /held', half, 'half'));
    await expect.poll(() => refused.statuses).toEqual([503]);
    for (const { end } of app.held) end();
    for (const one of held) await expect.poll(() => one.statuses).toEqual([200]);
    expect(app.held).toHaveLength(4);
    expect(app.handled).toBe(0);
  });

  it('completes nothing in time: some slow responses are no overload', async () => {
    await start({ backlogMilliseconds: 60_000, minimumBacklog: 1 });
    await hold(10, ada);
    expect(await refusals()).toBe(0);
  });

  it('never refuses long polls', async () => {
    await start({ ...small, minimumBacklog: 1 });
    for (let lane = 1; lane <= 5; lane += 1) {
      await send(request(`GET /lane?lane=${lane}`, ada));
      await expect.poll(() => app.held).toHaveLength(lane);
    }
    expect(await refusals()).toBe(0);
  });

  it('refuses requests that arrive together and wait too long, except long polls', async () => {
    await start();
    const clients = 60;
    const connections = await Promise.all(Array.from({ length: clients * 2 }, () => app.connect()));
    // Node accepts one connection per tick. Waits until all are accepted, so that the requests arrive together.
    await expect.poll(async () => (await app.counts())[0]).toBe(connections.length);
    for (const [index, connection] of connections.entries()) {
      const who = authorization(`sender${index}`);
      connection.send(request(index < clients ? `GET /lane?lane=${index}` : 'GET /held', who));
    }
    const [polls, others] = [connections.slice(0, clients), connections.slice(clients)];
    await expect.poll(async () => app.held.length + (await refusals())).toBe(clients * 2);
    expect(await refusals()).toBeGreaterThan(0);
    for (const { end } of app.held) end();
    for (const one of polls) await expect.poll(() => one.statuses).toEqual([200]);
    for (const one of others) await expect.poll(() => one.statuses).toHaveLength(1);
  });

  it('admits at most twice what it can complete in time, from any number of clients', async () => {
    await start({ ...small, minimumBacklog: 2 });
    const asked = 20;
    for (let who = 1; who <= asked; who += 1) await send(request('GET /held', authorization(`sender${who}`)));
    await expect.poll(async () => app.held.length + (await refusals())).toBe(asked);
    expect(app.held.length).toBeLessThanOrEqual(4);
  });

  it('refuses unauthenticated clients by their address', async () => {
    await start({ ...small, trustedProxies: new AddressRanges(['127.0.0.0/8']) });
    const ask = (address: string) =>
      send(request('GET /held-for-anybody', `x-forwarded-for: ${address}\r\n`));
    for (let count = 1; count <= 4; count += 1) {
      await ask('203.0.113.1');
      await expect.poll(() => app.held).toHaveLength(count);
    }
    const refused = await ask('203.0.113.1');
    await expect.poll(() => refused.statuses).toEqual([503]);
    await ask('203.0.113.2');
    await expect.poll(() => app.held).toHaveLength(5);
  });

  it('counts a 4xx as completed, but not its own errors', async () => {
    const backlogMilliseconds = 1500;
    await start({ backlogMilliseconds, minimumBacklog: 4 });
    await hold(4, ada);
    const heldAt = performance.now();
    await expect.poll(() => performance.now()).toBeGreaterThan(heldAt + backlogMilliseconds);
    const late = await send(request('GET /held', ada));
    await expect.poll(() => late.statuses).toEqual([503]);
    const failed = await send(request('GET /held?refuse=INTERNAL_SERVER_ERROR', bob));
    await expect.poll(() => failed.statuses).toEqual([500]);
    const stillLate = await send(request('GET /held', ada));
    await expect.poll(() => stillLate.statuses).toEqual([503]);
    const refused = await send(request('GET /held?refuse=BAD_REQUEST', bob));
    await expect.poll(() => refused.statuses).toEqual([400]);
    await hold(1, ada);
  });

  it('refuses expired requests except health, and logs them in one line', async () => {
    await start({ backlogMilliseconds: 20, minimumBacklog: 4 });
    const crowd: RawConnection[] = [];
    for (let count = 0; count < 60; count += 1) crowd.push(await app.connect());
    const probe = await app.connect();
    for (const connection of crowd) connection.send(request('GET /busy', ada));
    probe.send(request('GET /health/live'));
    for (const connection of crowd) await expect.poll(() => connection.statuses).toHaveLength(1);
    await expect.poll(() => probe.statuses).toEqual([200]);
    const answered = crowd.filter(({ statuses }) => statuses[0] === 200).length;
    expect(app.handled).toBe(answered);
    expect(await refusals()).toBe(crowd.length - answered);
    expect(answered).toBeLessThan(40);
    const warnings = () => app.logged.lines().filter(({ requests }) => requests !== undefined);
    const told = () => warnings().reduce((sum, { requests }) => sum + Number(requests), 0);
    await expect.poll(told).toBe(crowd.length - answered);
    expect(warnings()).toHaveLength(1);
  });

  it('completes or refuses each of many pipelined requests', async () => {
    await start({ backlogMilliseconds: 20, minimumBacklog: 4 });
    const crowd: RawConnection[] = [];
    for (let count = 0; count < 12; count += 1) crowd.push(await app.connect());
    for (const connection of crowd) connection.send(request('GET /busy', ada).repeat(20));
    for (const connection of crowd) await expect.poll(() => connection.statuses).toHaveLength(20);
    const statuses = crowd.flatMap((connection) => connection.statuses);
    const refused = statuses.filter((status) => status === 503).length;
    expect(statuses.filter((status) => status === 200)).toHaveLength(app.handled);
    expect(app.handled + refused).toBe(statuses.length);
    expect(refused).toBeGreaterThan(0);
    expect(await refusals()).toBe(refused);
  });
});

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { getDefaultHighWaterMark, type PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AdminSession } from '#service/dashboard/admin-sessions.js';
import { EventStreams } from '#service/dashboard/event-streams.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { eachBackend } from '../../../support/test-databases.js';
import { type DashboardUnderTest, startDashboard } from './dashboard-under-test.js';

/** Returns a reader for the events of a response, one at a time. */
function eventsOf(answer: Response) {
  const reader = answer.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  return {
    async next(): Promise<string | undefined> {
      while (!text.includes('\n\n')) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done) return undefined;
        text += decoder.decode(value, { stream: true });
      }
      const [event = '', ...others] = text.split('\n\n');
      text = others.join('\n\n');
      return event;
    },
  };
}

eachBackend((backend) => {
  let dashboard: DashboardUnderTest;
  let cookie: string;
  let url: string;
  beforeEach(async () => {
    dashboard = await startDashboard(await backend.freshUrl());
    cookie = await dashboard.session();
    url = `${await dashboard.relay.app.listen({ port: 0 })}/admin/api/events`;
  });
  afterEach(() => dashboard.close());

  const follow = (more: RequestInit = {}) => fetch(url, { headers: { cookie }, ...more });

  it('the event stream starts with the overview', async () => {
    const answer = await follow();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const event = (await eventsOf(answer).next()) ?? '';
    expect(event).toMatch(/^event: overview\ndata: \{/);
    const sent = JSON.parse(event.split('data: ')[1] ?? '');
    const { now } = dashboard.relay.time;
    expect(sent).toMatchObject({ now, ready: true, queue: { dead: 0 } });
    expect(sent.minutes.at).toHaveLength(60);
  });

  it('the event stream ends when its session ends', async () => {
    const events = eventsOf(await follow());
    await events.next();
    expect((await dashboard.ask('DELETE', '/admin/api/session', { cookie })).statusCode).toBe(204);
    expect(await events.next()).toBeUndefined();
  });

  it('the event stream ends when the admin token changes', async () => {
    const events = eventsOf(await follow());
    await events.next();
    writeFileSync(dashboard.tokenFile, 'another token of the operator of this relay');
    await dashboard.signIn();
    expect(await events.next()).toBeUndefined();
  });

  it('the relay closes without waiting for event streams, and ends them', async () => {
    const events = eventsOf(await follow());
    await events.next();
    await dashboard.relay.app.close();
    expect(await events.next()).toBeUndefined();
  });

  it('the relay accepts at most eight event streams, and only with a session', async () => {
    const leaving = new AbortController();
    const first = await follow({ signal: leaving.signal });
    const others = await Promise.all(Array.from({ length: 7 }, () => follow()));
    expect(others.map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => 200));
    const ninth = await follow();
    expect([ninth.status, ninth.headers.get('retry-after')]).toEqual([503, '30']);
    expect((await ninth.json()).msg).toBe('The dashboard is open in 8 windows already: close one of them');
    expect((await fetch(url)).status).toBe(401);
    expect(first.status).toBe(200);
    leaving.abort();
    await expect.poll(async () => (await follow()).status).toBe(200);
  });
});

describe('the open streams', () => {
  const session = (): AdminSession => {
    return { hash: 'h', expiresAt: Number.POSITIVE_INFINITY, ended: new AbortController().signal };
  };
  const fillWith = (streams: EventStreams, ended: AbortSignal) =>
    Array.from(
      { length: 8 },
      () => streams.open({ ...session(), ended }, new AbortController().signal) as PassThrough,
    );
  const open = (read: () => Promise<unknown>) => {
    const { log, text } = createMemoryLog();
    const checked: string[] = [];
    const check = async (hash: string) => {
      checked.push(hash);
      return undefined;
    };
    return { streams: new EventStreams({ sessions: { check }, log, read }), text, checked };
  };

  it('share one query per event, and check their sessions', async () => {
    let readings = 0;
    const { streams, checked } = open(async () => ({ reading: ++readings }));
    const ending = new AbortController();
    const outputs = [1, 2].map(() => streams.open(session(), ending.signal));
    await streams.send();
    const before = readings;
    await streams.send();
    expect(readings).toBe(before + 1);
    expect(checked).toContain('h');
    for (const output of outputs) expect(String(output.read())).toContain(`{"reading":${readings}}`);
    ending.abort();
  });

  it('do not buffer events that a client does not read', async () => {
    const { streams } = open(async () => ({ text: 'x'.repeat(40_000) }));
    const ending = new AbortController();
    const output = streams.open(session(), ending.signal);
    for (let count = 0; count < 20; count++) await streams.send();
    expect(output.readableLength).toBeLessThan(200_000);
    ending.abort();
  });

  it.each([
    ['a full buffer', 20, true],
    ['the last event', 4, false],
  ])('close when their session ends, even if no client reads %s', async (_name, events, isFull) => {
    // Four such events fill only the readable side of the stream; further events also fill the writable side.
    const text = 'x'.repeat((getDefaultHighWaterMark(false) * 3) / 8);
    const { streams } = open(async () => text);
    const ending = new AbortController();
    const outputs = fillWith(streams, ending.signal);
    for (let count = 0; count < events; count++) await streams.send();
    expect(outputs.map(({ writableNeedDrain }) => writableNeedDrain)).toEqual(outputs.map(() => isFull));
    expect(() => fillWith(streams, ending.signal)).toThrow('open in 8 windows already');
    const closed = outputs.map((output) => once(output, 'close'));
    ending.abort();
    await Promise.all(closed);
    const next = new AbortController();
    expect(fillWith(streams, next.signal)).toHaveLength(8);
    next.abort();
  });

  it('continue when a query fails', async () => {
    let isAway = true;
    const { streams, text } = open(async () => {
      if (isAway) throw new Error('the database is away');
      return {};
    });
    const ending = new AbortController();
    const output = streams.open(session(), ending.signal);
    await streams.send();
    await streams.send();
    expect(text().match(/open dashboards keep their last figures/g)).toHaveLength(1);
    isAway = false;
    await streams.send();
    expect(text()).toContain('the overview can be read again');
    expect(String(output.read())).toContain('event: overview');
    ending.abort();
  });
});

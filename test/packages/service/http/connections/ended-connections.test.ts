import type { HttpLimits } from '@waxwing/service/http-settings';
import { afterEach, describe, expect, it } from 'vitest';
import { authorization, ListeningApp, request } from '../listening-app.js';

let app: ListeningApp;
const ada = authorization('ada');
const nothing = [0, 0, 0];

async function start(limits: Partial<HttpLimits> = {}): Promise<void> {
  app = await ListeningApp.start(limits);
}

afterEach(() => app.close());

describe('a connection is closed', () => {
  it.each([
    ['without any data', ''],
    ['with a partial head', 'GET /open HTTP/1.1\r\nhost'],
    ['with a partial body', request('POST /body', `${ada}content-length: 9\r\n`, 'half')],
  ])('in time if it is a connection %s', async (_what, text) => {
    await start({ headTimeoutMilliseconds: 60, requestTimeoutMilliseconds: 60 });
    const connection = await app.connect();
    connection.send(text);
    await connection.closed;
    expect(connection.statuses).toEqual([408]);
    await expect.poll(() => app.counts()).toEqual(nothing);
    expect(await app.metric('waxwing_http_refusals_total', '{reason="timeout"}')).toBe(1);
  });

  it('if it is idle after a response', async () => {
    await start({ idleTimeoutMilliseconds: 60 });
    const connection = await app.connect();
    connection.send(request('GET /open'));
    await connection.closed;
    expect(connection.statuses).toEqual([200]);
  });

  it('if its client does not read the response', async () => {
    await start({ answerTimeoutMilliseconds: 60 });
    const connection = await app.connect();
    connection.socket.pause();
    connection.send(request('GET /large'));
    await expect.poll(() => app.counts()).toEqual(nothing);
    expect(await app.metric('waxwing_http_refusals_total', '{reason="timeout"}')).toBe(1);
  });
});

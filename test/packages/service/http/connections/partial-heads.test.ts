import { afterEach, describe, expect, it } from 'vitest';
import { authorization, ListeningApp, request } from '../listening-app.js';

let app: ListeningApp;
const kibibytes = (count: number) => 'x'.repeat(count * 1024);
const refused = (reason: string) => app.metric('waxwing_http_refusals_total', `{reason="${reason}"}`);

afterEach(() => app.close());

describe('a server with large partial request heads', () => {
  it('closes the connections with the largest heads, and keeps the others', async () => {
    app = await ListeningApp.start({ maximumHeadBytes: 128 * 1024, maximumBodyBytesInFlight: 800 * 1024 });
    const begin = async (count: number) => (await app.connect()).send(`GET /open?a=${kibibytes(count)}`);
    const [large, larger, ordinary] = [await begin(80), await begin(100), await begin(10)];
    // With the third large head, partial heads exceed a quarter of the limit for bytes in flight.
    const third = await begin(40);
    await larger.closed;
    expect([larger.text, await refused('body-bytes')]).toEqual(['', 1]);
    for (const each of [large, ordinary, third]) each.send(' HTTP/1.1\r\nhost: x\r\n\r\n');
    for (const each of [large, ordinary, third]) await expect.poll(() => each.statuses).toEqual([200]);
  });

  it('does not count earlier requests', async () => {
    app = await ListeningApp.start({ maximumHeadBytes: 128 * 1024, maximumBodyBytesInFlight: 400 * 1024 });
    const connection = await app.connect();
    for (let count = 0; count < 4; count += 1) {
      connection.send(request(`GET /open?a=${kibibytes(90)}`));
      await expect.poll(() => connection.statuses).toHaveLength(count + 1);
    }
    connection.send(`GET /open?a=${kibibytes(90)}`);
    const larger = await app.connect();
    larger.send(`GET /open?a=${kibibytes(110)}`);
    await larger.closed;
    connection.send(' HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(() => connection.statuses).toEqual([200, 200, 200, 200, 200]);
    expect(await refused('body-bytes')).toBe(1);
  });
});

it('a long URL counts as bytes in flight, but an ordinary URL does not', async () => {
  app = await ListeningApp.start({ maximumHeadBytes: 128 * 1024, maximumBodyBytesInFlight: 400 * 1024 });
  const held = await app.connect();
  held.send(request(`GET /held?a=${kibibytes(60)}`, authorization('ada')));
  await expect.poll(() => app.held).toHaveLength(1);
  expect(Math.round(((await app.counts())[2] ?? 0) / 1024)).toBe(60);
  const other = await app.connect();
  other.send(request(`GET /held?a=${kibibytes(60)}`, authorization('ada')));
  await expect.poll(() => other.statuses).toEqual([429]);
  other.send(request(`GET /held?a=${kibibytes(10)}`, authorization('ada')));
  await expect.poll(() => app.held).toHaveLength(2);
});

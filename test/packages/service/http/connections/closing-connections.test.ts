import { afterEach, expect, it } from 'vitest';
import { ListeningApp, request } from '../listening-app.js';

let app: ListeningApp;

afterEach(() => app.close());

// How long the app waits for connections. Long, so that no test passes only because all connections were cut.
const patienceMilliseconds = 30_000;

it.each([
  ['without any data', ''],
  ['with a partial request', 'GET /open HTTP/1.1\r\nho'],
])('a connection %s gets a 503 and may send the rest while the app closes', async (_case, part) => {
  app = await ListeningApp.start({}, patienceMilliseconds);
  const connection = await app.connect();
  connection.send(part);
  await expect.poll(() => app.metric('waxwing_http_connections')).toBe(1);
  // Once this later request has a response, the app has read the partial request.
  const other = await app.connect();
  other.send(request('GET /open'));
  await expect.poll(() => other.statuses).toEqual([200]);
  const closed = app.closeItself();
  connection.send(request('GET /open').slice(part.length));
  await connection.closed;
  const [head = '', body = ''] = connection.text.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1.1 503 /);
  expect(JSON.parse(body)).toMatchObject({ result: 'error', code: 'SERVICE_UNAVAILABLE' });
  await closed;
  // The other connection already has its response, so it is closed without a second response.
  expect(other.statuses).toEqual([200]);
});

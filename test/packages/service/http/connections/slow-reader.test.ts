import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { UnreadBodies } from '#service/http/connections/unread-bodies.js';
import { RawConnection, request } from '../listening-app.js';

const mebibyte = 1024 * 1024;
const clients = 8;

/**
 * Starts a server that responds to each request before the body arrives. `bytesRead` is the total across all
 * connections.
 */
async function startRefusing() {
  const bodies = new UnreadBodies();
  const sockets: Socket[] = [];
  const server = createServer((asked, response) => {
    response.once('close', () => {
      if (!asked.complete) bodies.begin(asked);
    });
    response.end();
  });
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const bytesRead = (): number => sockets.reduce((sum, socket) => sum + socket.bytesRead, 0);
  const open = async (): Promise<RawConnection> => {
    const connection = await RawConnection.open(port);
    onTestFinished(() => void connection.socket.destroy());
    return connection;
  };
  return { sockets, bytesRead, open };
}

it('the rest of large bodies is read from one connection at a time', async () => {
  const { bytesRead, open } = await startRefusing();
  const connections = await Promise.all(Array.from({ length: clients }, open));
  for (const connection of connections) {
    connection.send(request('POST /', `content-length: ${8 * mebibyte}\r\n`));
    await expect.poll(() => connection.statuses).toEqual([200]);
  }
  let most = 0;
  let isOver = false;
  const watch = (before: number): void => {
    const now = bytesRead();
    most = Math.max(most, now - before);
    if (!isOver) setImmediate(watch, now);
  };
  watch(bytesRead());
  for (const connection of connections) connection.send('x'.repeat(8 * mebibyte) + request('GET /'));
  for (const connection of connections) {
    await expect.poll(() => connection.statuses, { timeout: 30_000 }).toEqual([200, 200]);
  }
  isOver = true;
  // Allows as much as libuv reads from one socket in a tick, plus a little from the others.
  expect(most).toBeLessThan(4 * mebibyte);
});

it('a closed connection does not delay other connections', async () => {
  const { open, sockets } = await startRefusing();
  const connections = await Promise.all(Array.from({ length: clients }, open));
  for (const connection of connections) {
    connection.send(request('POST /', 'transfer-encoding: chunked\r\n'));
    await expect.poll(() => connection.statuses).toEqual([200]);
  }
  const last = connections.at(-1);
  for (const socket of sockets.slice(0, -1)) socket.destroy();
  last?.send(`5\r\nhello\r\n0\r\n\r\n${request('GET /')}`);
  await expect.poll(() => last?.statuses).toEqual([200, 200]);
});

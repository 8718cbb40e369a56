import { createServer } from 'node:net';
import { expect } from 'vitest';

/** Accepts and closes at least `count` connections. Returns a function that stops listening. */
export async function turnAway(port: number, count: number): Promise<() => Promise<unknown>> {
  let tries = 0;
  const server = createServer((socket) => {
    tries += 1;
    socket.destroy();
  });
  server.listen(port, '127.0.0.1');
  await expect.poll(() => tries, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
  return () => new Promise((resolve) => server.close(resolve));
}

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ephemeral port range. Otherwise the system could assign the port to another program before the tested
// process listens on it, or while the process restarts.
const [lowestPort, highestPort] = [20_000, 32_000];

/** Returns the first of `inARow` consecutive ports that are free on loopback. */
export async function freePort(inARow = 1): Promise<number> {
  for (;;) {
    const first = randomInt(lowestPort, highestPort - inARow);
    const ports = Array.from({ length: inARow }, (_, offset) => first + offset);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}

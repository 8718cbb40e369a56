import type { Socket } from 'node:net';

/**
 * Resolves when the connection has closed, even after an error. (`once` from `node:events` would reject on an error.)
 */
export function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => undefined).once('close', () => resolve());
  });
}

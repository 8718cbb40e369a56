import type { Socket } from 'node:net';

/** Resolves when the connection has closed, even after an error: `once` of `node:events` would reject then. */
export function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => undefined).once('close', () => resolve());
  });
}

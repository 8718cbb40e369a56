import type { Socket } from 'node:net';

/** Resolves when the connection is over, also where it breaks: `once` of `node:events` rejects with an error before that. */
export function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => undefined).once('close', () => resolve());
  });
}

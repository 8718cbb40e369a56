import type { Socket } from 'node:net';

/** Pipes two sockets into each other. If one ends or fails, ends both. Keeps both in `open` until then. */
export function joinSockets(near: Socket, far: Socket, open: Set<Socket>): void {
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    open.add(one);
    one.on('error', () => other.destroy());
    one.on('close', () => {
      open.delete(one);
      other.destroy();
    });
    one.pipe(other);
  }
}

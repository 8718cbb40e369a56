import { connect } from 'node:net';
import type { AttackReport, CutRequests } from './attack.js';

const atOnce = 8;

/** Starts to cut off requests, a few connections at a time. */
export function cutRequests({ port, request, how, rounds, isWhole }: CutRequests): () => AttackReport {
  const bytes = Buffer.from(request, 'base64');
  const total = isWhole ? rounds : bytes.length * rounds;
  let next = 0;
  let done = 0;
  let open = 0;
  const drive = async (): Promise<void> => {
    while (next < total) {
      const length = isWhole ? bytes.length : (next % bytes.length) + 1;
      next += 1;
      open += 1;
      await cutOne(port, bytes.subarray(0, length), how);
      open -= 1;
      done += 1;
    }
  };
  for (let started = 0; started < atOnce; started++) void drive();
  return () => ({ isInForce: done > 0, isOver: done >= total, open, done, answers: {} });
}

/** Resolves when the connection has ended. Never rejects, even if the other side ends the connection first. */
function cutOne(port: number, part: Buffer, how: CutRequests['how']): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => undefined).on('close', () => resolve());
    socket.resume();
    socket.write(part, () => (how === 'reset' ? socket.resetAndDestroy() : socket.destroy()));
  });
}

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { AttackReport, HeldConnections } from './attack.js';
import { answerReader, countInto } from './count-answers.js';

const atOnce = 100;
// Limits reopening: doing it as fast as the target closes connections would use more CPU time than the target's own
// work.
const againAtOnce = 10;
const againMilliseconds = 200;
const dripMilliseconds = 1000;

/** Starts to hold connections open. Reopens a connection that the other side ends. */
export function holdConnections(attack: HeldConnections): () => AttackReport {
  const open = new Set<Socket>();
  const answers: Record<string, number> = {};
  const first = attack.first.map((text) => Buffer.from(text, 'base64'));
  const drip = Buffer.from(attack.drip, 'base64');
  let done = 0;
  let held = 0;
  let dripped = 0;
  const keepUp = async (): Promise<void> => {
    for (;;) {
      const isFirstRound = done < attack.connections;
      const missing = Math.min(isFirstRound ? atOnce : againAtOnce, attack.connections - open.size);
      for (const socket of await Promise.all(Array.from({ length: missing }, () => openOne(attack.port)))) {
        done += 1;
        if (socket !== undefined) hold(socket);
      }
      await new Promise((resolve) => setTimeout(resolve, isFirstRound ? 1 : againMilliseconds));
    }
  };
  const hold = (socket: Socket): void => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
    const count = answerReader(countInto(answers));
    if (attack.readsAnswers) socket.on('data', count);
    else socket.pause();
    socket.write(first[held++ % first.length] ?? '');
  };
  void keepUp();
  if (drip.length > 0) {
    setInterval(() => {
      const start = dripped % drip.length;
      const part = drip.subarray(start, start + attack.dripBytes);
      dripped += part.length;
      for (const socket of open) socket.write(part);
    }, dripMilliseconds);
  }
  return () => ({
    isInForce: done >= attack.connections,
    isOver: false,
    open: open.size,
    done,
    answers: { held: answers },
  });
}

/** Opens a connection. Resolves to `undefined` if the machine or the other side allows no more connections. */
async function openOne(port: number): Promise<Socket | undefined> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return socket;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return undefined;
  }
}

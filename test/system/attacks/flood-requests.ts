import { connect } from 'node:net';
import type { AttackReport, RepeatedRequests } from './attack.js';
import { answerCounter } from './count-answers.js';

const begunAfter = 200;

/** Begins to send requests on a few connections; one that the other side ends is opened again. */
export function floodRequests(attack: RepeatedRequests): () => AttackReport {
  const requests = attack.requests.map((request) => Buffer.from(request, 'base64'));
  let next = 0;
  const nextRequest = (): Buffer => requests[next++ % requests.length] as Buffer;
  const answers: Record<string, number> = {};
  let done = 0;
  let open = 0;
  const drive = (): void => {
    if (done >= attack.total) return;
    const { port, localAddress } = attack;
    const from = localAddress === undefined ? {} : { localAddress };
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, ...from });
    const count = answerCounter(answers);
    let unanswered = 0;
    const send = (): void => {
      const more = Math.min(attack.depth - unanswered, attack.total - done - unanswered);
      if (more <= 0) {
        if (done >= attack.total) socket.end();
        return;
      }
      unanswered += more;
      socket.write(Buffer.concat(Array.from({ length: more }, nextRequest)));
    };
    socket.once('connect', () => {
      open += 1;
      socket.once('close', () => {
        open -= 1;
      });
      send();
    });
    socket.on('data', (chunk: Buffer) => {
      const answered = count(chunk);
      done += answered;
      unanswered -= answered;
      if (answered > 0 && attack.endsConnections) socket.destroy();
      // By halves, so that many go at once.
      else if (unanswered <= attack.depth / 2) send();
    });
    socket.on('error', () => undefined).on('close', () => setImmediate(drive));
  };
  for (let started = 0; started < attack.connections; started++) drive();
  return () => {
    const isOver = done >= attack.total;
    return { isInForce: isOver || done >= begunAfter, isOver, open, done, answers };
  };
}

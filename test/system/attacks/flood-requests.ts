import { connect } from 'node:net';
import type { AttackReport, RepeatedRequests } from './attack.js';
import { answerReader, countInto } from './count-answers.js';

const begunAfter = 200;

interface Sent {
  readonly what: string;
  readonly bytes: Buffer;
}

/** Starts to send requests on several connections. Reopens a connection that the other side ends. */
export function floodRequests(attack: RepeatedRequests): () => AttackReport {
  const requests = attack.requests.map(({ text, what }) => ({ what, bytes: Buffer.from(text, 'base64') }));
  const { total = Number.POSITIVE_INFINITY } = attack;
  let next = 0;
  const answers = Object.fromEntries(requests.map(({ what }) => [what, {}]));
  const counters = new Map(Object.entries(answers).map(([what, counts]) => [what, countInto(counts)]));
  let done = 0;
  let open = 0;
  const drive = (): void => {
    if (done >= total) return;
    const { port, localAddress } = attack;
    const from = localAddress === undefined ? {} : { localAddress };
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, ...from });
    // Actions of the unanswered requests, in order, because responses arrive in the order of the requests.
    const unanswered: string[] = [];
    const count = answerReader((answer) => counters.get(unanswered.shift() ?? '')?.(answer));
    const send = (): void => {
      const more = Math.min(attack.depth - unanswered.length, total - done - unanswered.length);
      if (more <= 0) {
        if (done >= total) socket.end();
        return;
      }
      const sent = Array.from({ length: more }, () => requests[next++ % requests.length] as Sent);
      unanswered.push(...sent.map(({ what }) => what));
      socket.write(Buffer.concat(sent.map(({ bytes }) => bytes)));
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
      if (answered > 0 && attack.endsConnections) socket.destroy();
      // Refills at half depth, so that many requests are sent at once.
      else if (unanswered.length <= attack.depth / 2) send();
    });
    socket.on('error', () => undefined).on('close', () => setImmediate(drive));
  };
  for (let started = 0; started < attack.connections; started++) drive();
  return () => {
    const isOver = attack.total === undefined ? areAllAnswered(answers) : done >= total;
    const isBegun = done >= (attack.total === undefined ? 1 : begunAfter);
    return { isInForce: isOver || isBegun, isOver, open, done, answers };
  };
}

function areAllAnswered(answers: AttackReport['answers']): boolean {
  return Object.values(answers).every((counts) => Object.keys(counts).length > 0);
}

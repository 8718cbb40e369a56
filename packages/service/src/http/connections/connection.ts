import type { Socket } from 'node:net';
import type { HttpLimits } from '../../http-settings/http-limits.js';
import type { Exchange } from '../exchange.js';
import { isUnread, type UnreadBody } from './unread-bodies.js';

/** Time limit for the single response on a connection that exceeds a limit. */
const surplusMilliseconds = 5000;

/** An open connection and the requests on it. */
export interface Connection {
  readonly socket: Socket;
  readonly openedAt: number;
  readonly isSurplus: boolean;
  readonly address: string | undefined;
  serving: Exchange | undefined;
  readonly pipelined: Exchange[];
  /** The actor of the last authenticated request on the connection. */
  actor: string | undefined;
  /** Client key of `actor`, built once per actor. */
  clientKey: string | undefined;
  /** The last answered request whose body has not completely arrived. */
  unread: UnreadBody | undefined;
  /** When the response was completely written; `undefined` once the client has received it. */
  answeredAt: number | undefined;
  /** Number of bytes received by the end of the last request. */
  bytesBefore: number;
  /**
   * When the server refused a request that it could not parse. All further bytes are discarded. Closing the socket
   * instead would reset the connection, and the client would lose the response.
   */
  refusedAt: number | undefined;
}

export function newConnection(
  socket: Socket,
  { isSurplus, address }: Pick<Connection, 'isSurplus' | 'address'>,
): Connection {
  return {
    socket,
    openedAt: performance.now(),
    isSurplus,
    address,
    serving: undefined,
    pipelined: [],
    actor: undefined,
    clientKey: undefined,
    unread: undefined,
    answeredAt: undefined,
    bytesBefore: 0,
    refusedAt: undefined,
  };
}

/**
 * Whether a client has sent part of a request head or has just connected to send one. Such a client needs a response
 * even while the server is closing, because stock servers disable push after a broken connection.
 */
export function expectsAnswer({ bytesBefore, serving, socket }: Connection): boolean {
  return serving === undefined && (bytesBefore === 0 || socket.bytesRead > bytesBefore);
}

/**
 * Whether a connection must be closed for a reason that Node's own timeouts do not cover. `now` is from
 * `performance.now()`.
 */
export function isLate(
  { answeredAt, isSurplus, openedAt, refusedAt, unread }: Connection,
  limits: Pick<HttpLimits, 'answerTimeoutMilliseconds' | 'unreadBodyTimeoutMilliseconds'>,
  now: number,
): boolean {
  return (
    now - (answeredAt ?? now) >= limits.answerTimeoutMilliseconds ||
    (isUnread(unread) && now - unread.since >= limits.unreadBodyTimeoutMilliseconds) ||
    now - (refusedAt ?? now) >= limits.unreadBodyTimeoutMilliseconds ||
    (isSurplus && now - openedAt >= surplusMilliseconds)
  );
}

import type { Connection } from './connection.js';

/** Request heads up to this size are not counted, because the connection limit already bounds their memory. */
const ordinaryHeadBytes = 16 * 1024;

/**
 * Selects connections to close, so that large incomplete request heads take up at most `maximumBytes` of memory in
 * total. Selects the largest heads first.
 */
export function connectionsOfPartialHeads(
  connections: Iterable<Connection>,
  maximumBytes: number,
): Connection[] {
  const partial = Array.from(connections, (connection) => ({
    connection,
    bytes: partialHeadBytes(connection),
  }))
    .filter(({ bytes }) => bytes > ordinaryHeadBytes)
    .sort((one, other) => other.bytes - one.bytes);
  let total = partial.reduce((sum, { bytes }) => sum + bytes, 0);
  const closed: Connection[] = [];
  for (const { connection, bytes } of partial) {
    if (total <= maximumBytes) break;
    total -= bytes;
    closed.push(connection);
  }
  return closed;
}

function partialHeadBytes({ bytesBefore, refusedAt, serving, socket }: Connection): number {
  return serving === undefined && refusedAt === undefined ? socket.bytesRead - bytesBefore : 0;
}

import { connect, type Socket } from 'node:net';
import { CommandError } from '@waxwing/service/command-line';

/**
 * A connection to the socket at `path`; `undefined` when nobody listens there. @throws CommandError for any other reason.
 */
export function connectToSocket(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      // Whoever uses the connection sees that it has ended.
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(undefined);
      else
        reject(
          new CommandError(
            `The relay's socket ${path} cannot be used (${error.message}): run this as the relay's user.`,
          ),
        );
    });
  });
}

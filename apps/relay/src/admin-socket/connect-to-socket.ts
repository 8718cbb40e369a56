import { connect, type Socket } from 'node:net';
import { CommandError } from '@waxwing/service/command-line';

/**
 * Connects to the Unix socket at `path`. Resolves to `undefined` if no process listens there.
 * @throws CommandError for any other failure.
 */
export function connectToSocket(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      // A later error destroys the socket, so the caller sees it as the end of the connection.
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

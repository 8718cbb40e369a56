import type { AddressInfo, Server } from 'node:net';

/**
 * Starts a server and waits until it listens.
 * @param port 0 picks any free port.
 * @returns the port.
 * @throws the server's error. If the port is in use, the error has the code EADDRINUSE and the `port`.
 */
export async function listenOnPort(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

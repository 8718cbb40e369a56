import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** Target and credentials of a CONNECT request to the proxy. */
interface Tunnel {
  readonly to: string;
  readonly credentials: string | undefined;
}

/** A loopback proxy that tunnels for clients with any credentials. Refuses clients without credentials with 407. */
export async function startConnectProxy() {
  const tunnels: Tunnel[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer((_request, response) => void response.writeHead(400).end());
  proxy.on('connect', ({ url = '', headers }, socket: Socket) => {
    tunnels.push({ to: url, credentials: headers['proxy-authorization'] });
    if (headers['proxy-authorization'] === undefined) {
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
    }
    const [host, port] = url.split(':');
    const target = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      socket.pipe(target).pipe(socket);
    });
    for (const end of [target, socket]) {
      sockets.add(end.on('error', () => undefined));
      end.once('close', () => sockets.delete(end));
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    tunnels,
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

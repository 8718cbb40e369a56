import { once } from 'node:events';
import { type AddressInfo, connect, type NetConnectOpts, type Socket } from 'node:net';
import { type ErrorCode, type JsonObject, ProtocolError } from '@waxwing/protocol';
import { type BoundOperation, createHttpApp, type RequestHead } from '@waxwing/service/http';
import type { HttpLimits } from '@waxwing/service/http-settings';
import { Metrics } from '@waxwing/service/metrics';
import { createMemoryLog } from '../../../support/memory-log.js';
import { type TestOperation, testOperation } from '../../../support/test-operation.js';

/** Returns an Authorization header. The key `right` is valid. */
export function authorization(name: string, key = 'right'): string {
  return `authorization: Basic ${Buffer.from(`${name}:${key}`).toString('base64')}\r\n`;
}

export function request(line: string, headers = '', body = ''): string {
  return `${line} HTTP/1.1\r\nhost: x\r\n${headers}\r\n${body}`;
}

/** A raw connection that records everything it receives. */
export class RawConnection {
  readonly socket: Socket;
  text = '';
  readonly closed: Promise<unknown>;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      this.text += chunk.toString('utf8');
    });
    this.closed = new Promise((resolve) => socket.once('close', resolve));
  }

  static async open(port: number, localAddress?: string): Promise<RawConnection> {
    const local = localAddress === undefined ? {} : { localAddress };
    return RawConnection.to({ port, host: '127.0.0.1', ...local });
  }

  static async to(where: NetConnectOpts): Promise<RawConnection> {
    const socket = connect(where);
    const connection = new RawConnection(socket);
    await once(socket, 'connect');
    return connection;
  }

  /** HTTP statuses received so far. */
  get statuses(): number[] {
    return [...this.text.matchAll(/^HTTP\/1\.1 (\d+) /gm)].map(([, status]) => Number(status));
  }

  send(text: string): this {
    this.socket.write(text);
    return this;
  }
}

/** An HTTP app on a free port, with public, slow and authenticated operations. */
export class ListeningApp {
  readonly metrics = new Metrics();
  readonly logged = createMemoryLog();
  /** In-flight requests of `GET /held`, `GET /held-for-anybody` and `GET /lane`, with a function that ends each. */
  readonly held: { readonly end: () => void; readonly signal: AbortSignal }[] = [];
  /** Names of authenticated users. */
  readonly authenticated: string[] = [];
  handled = 0;
  #port = 0;
  #app: Awaited<ReturnType<typeof createHttpApp>> | undefined;
  readonly #connections: RawConnection[] = [];

  static async start(
    limits: Partial<HttpLimits> = {},
    closePatienceMilliseconds = 20,
  ): Promise<ListeningApp> {
    const test = new ListeningApp();
    test.#app = await createHttpApp({
      log: test.logged.log,
      metrics: test.metrics,
      operations: test.#operations(),
      readiness: {},
      settingsPrefix: 'TEST_',
      limits: { checkEveryMilliseconds: 20, ...limits },
      closePatienceMilliseconds,
    });
    await test.#app.listen({ host: '127.0.0.1', port: 0 });
    test.#port = (test.#app.server.address() as AddressInfo).port;
    return test;
  }

  async connect(localAddress?: string): Promise<RawConnection> {
    const connection = await RawConnection.open(this.#port, localAddress);
    this.#connections.push(connection);
    return connection;
  }

  /** Returns the value of a metric, summed over its labels. */
  async metric(name: string, labels = ''): Promise<number> {
    const lines = (await this.metrics.text())
      .split('\n')
      .filter((line) => line.startsWith(`${name}${labels}`));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  /** Returns the numbers of open connections, in-flight requests and in-flight body bytes. */
  async counts(): Promise<number[]> {
    return Promise.all(
      ['connections', 'requests_in_flight', 'body_bytes_in_flight'].map((name) =>
        this.metric(`waxwing_http_${name}`),
      ),
    );
  }

  async close(): Promise<void> {
    for (const { socket } of this.#connections) socket.destroy();
    await this.closeItself();
  }

  /** Closes the app, but not the test's connections. */
  async closeItself(): Promise<void> {
    await this.#app?.close();
  }

  #operations(): BoundOperation[] {
    const authenticate = async (head: RequestHead): Promise<void> => {
      const { username, password } = head.basicCredentials();
      this.authenticated.push(username);
      // Takes one tick of the event loop, like a database query.
      await new Promise((resolve) => setImmediate(resolve));
      if (password.reveal() !== 'right') throw new ProtocolError('INVALID_API_KEY');
      head.setActor(username);
    };
    const hold: TestOperation['handle'] = ({ head, signal }) =>
      new Promise<JsonObject>((resolve, reject) => {
        const refusal = head.queryParameter('refuse');
        if (refusal !== undefined) return reject(new ProtocolError(refusal as ErrorCode));
        const end = (): void => resolve({ ended: true });
        signal.addEventListener('abort', end);
        if (signal.aborted) end();
        this.held.push({ end, signal });
      });
    const count = async () => ({ handled: ++this.handled });
    const keepBusy = async () => {
      const until = performance.now() + 5;
      while (performance.now() < until);
      return count();
    };
    return [
      testOperation({ method: 'GET', path: '/open', handle: count }),
      testOperation({ method: 'GET', path: '/busy', handle: keepBusy }),
      testOperation({ method: 'POST', path: '/anybody', handle: count }),
      testOperation({
        method: 'POST',
        path: '/spectator',
        authenticate: async () => undefined,
        lane: (head) => head.queryParameter('lane'),
        handle: count,
      }),
      testOperation({ method: 'GET', path: '/held-for-anybody', handle: hold }),
      testOperation({
        method: 'GET',
        path: '/large',
        handle: async () => ({ text: 'x'.repeat(32 * 1024 * 1024) }),
      }),
      testOperation({ method: 'GET', path: '/held', authenticate, handle: hold }),
      testOperation({
        method: 'GET',
        path: '/lane',
        authenticate,
        lane: (head) => head.queryParameter('lane'),
        handle: hold,
      }),
      testOperation({ method: 'POST', path: '/body', bodyLimitBytes: 1000, authenticate, handle: count }),
    ];
  }
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { relayNotifyPath, relayRegisterManyPath } from '@waxwing/protocol';

/** A request that the stand-in received. */
export interface RelayRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** The stand-in's reaction to a request: respond, never respond, or close the connection. */
export type RelayReaction =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** A string, or a value to serialize as JSON. */
      readonly body?: unknown;
    }
  | 'silence'
  | 'cut';

type Reactor = (request: RelayRequest) => RelayReaction | Promise<RelayReaction>;

/** A relay's success response to a registration (docs/protocol.md). */
export function registered(deviceId: number): RelayReaction {
  return { status: 200, body: { result: 'success', msg: '', device_id: deviceId } };
}

/** A relay's success response to a notification. `dead` contains the device ids that the relay no longer knows. */
export function notified(dead: readonly number[] = []): RelayReaction {
  const body = {
    result: 'success',
    msg: '',
    android_successfully_sent_count: 1,
    apple_successfully_sent_count: 0,
    delete_device_ids: dead,
    realm_push_status: { can_push: true, expected_end_timestamp: null },
  };
  return { status: 200, body };
}

/** An error response with this status and code. */
export function refused(status: number, code: string, msg = 'no'): RelayReaction {
  return { status, body: { result: 'error', msg, code } };
}

/** A relay's success response to a batch registration, with the result of each registration in order. */
export function registeredMany(results: readonly object[]): RelayReaction {
  return { status: 200, body: { result: 'success', msg: '', results } };
}

/**
 * A relay's HTTP interface that records requests and reacts as scripted. Responds to batch registrations with 404,
 * without recording them, unless the test enables batches.
 */
export class RelayStandIn {
  readonly requests: RelayRequest[] = [];
  readonly #http: Server;
  readonly #next: RelayReaction[] = [];
  readonly #takesMany: boolean;
  #otherwise: Reactor = () => ({ status: 503 });

  private constructor(takesMany: boolean) {
    this.#takesMany = takesMany;
    this.#http = createServer((request, response) => void this.#receive(request, response));
  }

  static async start({ takesMany = false } = {}): Promise<RelayStandIn> {
    const relay = new RelayStandIn(takesMany);
    await new Promise<void>((resolve) => relay.#http.listen(0, '127.0.0.1', resolve));
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Sets the reactions to the next requests, in order. */
  next(...reactions: RelayReaction[]): void {
    this.#next.push(...reactions);
  }

  /** Sets the reaction to requests for which {@link next} has set none. Default: 503. */
  otherwise(reaction: RelayReaction | Reactor): void {
    this.#otherwise = typeof reaction === 'function' ? reaction : () => reaction;
  }

  /** Stops immediately and resets open connections. */
  async close(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const received = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    if (!this.#takesMany && received.path === relayRegisterManyPath) {
      return void response.writeHead(404).end();
    }
    this.requests.push(received);
    const reaction = this.#next.shift() ?? (await this.#otherwise(received));
    if (reaction === 'silence') return;
    if (reaction === 'cut') return void request.socket.destroy();
    const { status, headers = {} } = reaction;
    const body = withResults(received, reaction.body ?? '');
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  }
}

interface NotifyBody {
  readonly push_requests: readonly { readonly device_id?: number; readonly token_id?: string }[];
}

/** Adds a result for each device, which only this project's relay sends. */
function withResults({ path, body: asked }: RelayRequest, body: unknown): unknown {
  if (path !== relayNotifyPath || typeof body !== 'object' || body === null) return body;
  if (!('delete_device_ids' in body) || 'results' in body) return body;
  const { delete_device_ids: devices, delete_token_ids: tokens = [] } = body as Record<string, unknown[]>;
  const { push_requests: requests } = JSON.parse(asked) as NotifyBody;
  const results = requests.map(({ device_id: id, token_id: token }) => {
    const isGone = devices?.includes(id) === true || tokens.includes(token);
    return isGone ? { status: 'gone', reason: 'UNKNOWN_DEVICE' } : { status: 'sent' };
  });
  return { ...body, results };
}

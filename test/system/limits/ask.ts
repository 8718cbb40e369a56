import { request } from 'node:http';

/** A request that is sent immediately on a new connection. */
export interface Question {
  readonly url: string;
  readonly method?: 'GET' | 'POST' | 'PATCH';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The local address from which to send. */
  readonly localAddress?: string;
  /** The Unix socket to which to connect, instead of a port. */
  readonly socketPath?: string;
}

export interface Answer {
  readonly status: number;
  readonly retryAfter?: string | undefined;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** A POST request with a form, from an authenticated client. */
export function form(url: string, authorization: string, fields: Readonly<Record<string, string>>): Question {
  const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
  return { url, method: 'POST', headers, body: new URLSearchParams(fields).toString() };
}

/** A GET request from an authenticated client. */
export function question(url: string, authorization: string): Question {
  return { url, headers: { authorization } };
}

export function ask({
  url,
  method = 'GET',
  headers = {},
  body = '',
  localAddress,
  socketPath,
}: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) };
    const local = localAddress === undefined ? {} : { localAddress };
    const socket = socketPath === undefined ? {} : { socketPath };
    const options = {
      method,
      agent: false,
      headers: { ...headers, ...length },
      ...local,
      ...socket,
    } as const;
    const asked = request(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject).on('end', () => {
        const retryAfter = response.headers['retry-after'];
        resolve({ status: response.statusCode ?? 0, retryAfter, body: JSON.parse(text) });
        // The client need not send the rest of a body that is refused.
        asked.destroy();
      });
    });
    asked.on('error', reject).end(body);
  });
}

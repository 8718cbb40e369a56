import { request } from 'node:http';

/**
 * How a stock server's request to its relay can fail. Only `connection` and `server` failures are retried.
 * - `connection`: timeout, refused or broken connection
 * - `server`: HTTP 500 or above
 * - `named`: one of the codes that the caller handles by name
 * - `disallowed`: the plan includes no push notifications
 * - `configuration`: wrong credentials, or a status that is neither 200 nor an error
 * - `refused`: any other 4xx; its code is lost
 * - `unhandled`: an exception that no caller expects, such as a body without `msg`
 */
export type RelayFailureKind =
  | 'connection'
  | 'server'
  | 'named'
  | 'disallowed'
  | 'configuration'
  | 'refused'
  | 'unhandled';

export class RelayFailure extends Error {
  readonly kind: RelayFailureKind;
  /** The code that is stored in a device's row. */
  readonly code: string;

  constructor(kind: RelayFailureKind, message: string, code = 'BAD_REQUEST') {
    super(message);
    this.kind = kind;
    this.code = code;
  }

  /** Whether the relay refuses the realm, which disables push for it. */
  get refusesRealm(): boolean {
    return this.code === 'MISSING_REMOTE_REALM' || this.kind === 'disallowed';
  }

  get needsAdministrator(): boolean {
    return this.refusesRealm || this.kind === 'configuration';
  }

  get isRetried(): boolean {
    return this.kind === 'connection' || this.kind === 'server';
  }
}

export interface StockCredentials {
  readonly serverId: string;
  readonly serverKey: string;
}

export interface RelayRequestOptions {
  readonly relayUrl: string;
  /** `undefined` for a request without authentication. */
  readonly credentials: StockCredentials | undefined;
  /** Default: 15 seconds, or 90 seconds for analytics. */
  readonly timeoutMilliseconds?: number;
}

type Body = { readonly form: Readonly<Record<string, string>> } | { readonly json: object } | undefined;

interface RelayAnswer {
  readonly status: number;
  readonly text: string;
}

const registerEndpoint = 'push/e2ee/register';
const notifyEndpoint = 'push/e2ee/notify';
const namedCodes: Readonly<Record<string, readonly string[]>> = {
  [registerEndpoint]: ['INVALID_BOUNCER_PUBLIC_KEY', 'REQUEST_EXPIRED', 'MISSING_REMOTE_REALM'],
  [notifyEndpoint]: ['MISSING_REMOTE_REALM'],
};

/**
 * Sends one request to the relay as a stock Zulip 12 server does, and checks the response in the same order.
 * @param endpoint path below `/api/v1/remotes/`.
 * @throws RelayFailure
 */
export async function askRelay(
  options: RelayRequestOptions,
  method: 'GET' | 'POST',
  endpoint: string,
  body?: Body,
): Promise<Record<string, unknown>> {
  const answer = await send(options, method, endpoint, body);
  return readAnswer(endpoint, answer);
}

function readAnswer(endpoint: string, { status, text }: RelayAnswer): Record<string, unknown> {
  if (status >= 500) {
    throw new RelayFailure('server', `Received ${status} from push notification bouncer`);
  }
  if (status >= 400) throw readRefusal(endpoint, text);
  if (status !== 200) {
    throw new RelayFailure(
      'configuration',
      `Push notification bouncer returned unexpected status code ${status}`,
    );
  }
  return readObject(text);
}

function readRefusal(endpoint: string, text: string): RelayFailure {
  const { msg, code } = readObject(text);
  if (typeof msg !== 'string') throw new RelayFailure('unhandled', `a refusal without msg: ${text}`);
  if (code === 'INVALID_ZULIP_SERVER') return new RelayFailure('configuration', msg);
  if (code === 'PUSH_NOTIFICATIONS_DISALLOWED') return new RelayFailure('disallowed', msg);
  if (typeof code === 'string' && namedCodes[endpoint]?.includes(code)) {
    return new RelayFailure('named', msg, code);
  }
  return new RelayFailure('refused', msg);
}

function readObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RelayFailure('unhandled', `no JSON: ${text.slice(0, 200)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RelayFailure('unhandled', `no JSON object: ${text.slice(0, 200)}`);
  }
  return value as Record<string, unknown>;
}

/** Sends a request on a new TCP connection, because a stock server does not reuse connections. */
function send(
  { relayUrl, credentials, timeoutMilliseconds }: RelayRequestOptions,
  method: 'GET' | 'POST',
  endpoint: string,
  body: Body,
): Promise<RelayAnswer> {
  const timeout = endpoint.startsWith('server/analytics') ? 90_000 : 15_000;
  const payload = body === undefined ? '' : formatBody(body);
  const authorization = credentials && `Basic ${btoa(`${credentials.serverId}:${credentials.serverKey}`)}`;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(new RelayFailure('connection', error.message));
    const sent = request(`${relayUrl}/api/v1/remotes/${endpoint}`, {
      method,
      agent: false,
      signal: AbortSignal.timeout(timeoutMilliseconds ?? timeout),
      headers: {
        ...(authorization !== undefined && { authorization }),
        'user-agent': 'ZulipServer/12.1',
        accept: '*/*',
        ...(body !== undefined && {
          'content-type': contentType(body),
          'content-length': Buffer.byteLength(payload),
        }),
      },
    });
    sent.on('error', fail);
    sent.on('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', fail);
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
      });
    });
    sent.end(payload);
  });
}

function formatBody(body: NonNullable<Body>): string {
  return 'json' in body ? JSON.stringify(body.json) : new URLSearchParams(body.form).toString();
}

function contentType(body: NonNullable<Body>): string {
  return 'json' in body ? 'application/json' : 'application/x-www-form-urlencoded';
}

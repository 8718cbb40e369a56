import { program } from './program.js';

/** Error response of the program. `message` is shown to the operator; `status` is 0 if there was no response. */
export class ApiError extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, status: number, retryAfterSeconds?: number) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const timeoutMilliseconds = 20_000;

/** Called on every response that reports a missing session. */
let onSignedOut = (): void => {};

export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

export const apiPath = '/admin/api';

/** @throws ApiError */
export function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return send<Answer>('GET', path, undefined, signal);
}

/** @throws ApiError */
export function post<Answer = undefined>(path: string, body: object = {}): Promise<Answer> {
  return send<Answer>('POST', path, body);
}

/** @throws ApiError */
export function remove(path: string): Promise<undefined> {
  return send('DELETE', path, {});
}

async function send<Answer>(
  method: string,
  path: string,
  body?: object,
  signal?: AbortSignal,
): Promise<Answer> {
  const timeout = AbortSignal.timeout(timeoutMilliseconds);
  const options: RequestInit = {
    method,
    credentials: 'same-origin',
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers = { 'content-type': 'application/json' };
  }
  let response: Response;
  try {
    response = await fetch(apiPath + path, options);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError(`The ${program} does not answer. Check that it is running, and try again.`, 0);
  }
  if (response.ok) return response.status === 204 ? (undefined as Answer) : await response.json();
  if (response.status === 401) onSignedOut();
  throw await refusal(response);
}

async function refusal(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  const message =
    hasText(body, 'explanation') ??
    hasText(body, 'msg') ??
    `The ${program} responded with status ${response.status}. See its log for details.`;
  const seconds = Number(response.headers.get('retry-after'));
  return new ApiError(message, response.status, seconds > 0 ? seconds : undefined);
}

function hasText(body: unknown, key: string): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const value = (body as Record<string, unknown>)[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

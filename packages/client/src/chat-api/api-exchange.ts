import {
  isJsonObject,
  type JsonObject,
  parseJsonOrUndefined,
  parseRetryAfter,
} from '@waxwing/protocol/phone';
import type { PhoneClock, ServerClock } from '../server-clock.js';
import { ApiError, UnreachableError } from './api-error.js';
import type { Fetch } from './fetch.js';
import { readText } from './read-text.js';
import { explainFailure } from './unreachable-cause.js';

/** The network function and clocks for one server. */
export interface Connection {
  readonly fetch: Fetch;
  readonly deviceClock: PhoneClock;
  /** Updated from the `Date` headers of responses. */
  readonly serverClock: ServerClock;
}

export interface ApiExchange {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Timeout for the whole exchange, including reading the response body. */
  readonly timeoutMilliseconds: number;
}

const maximumAnswerBytes = 1024 * 1024;

/**
 * Sends one request to the chat API and returns its successful response, parsed without rounding integers.
 *
 * @throws ApiError if the server refuses; UnreachableError if there is no usable response.
 */
export async function exchangeJson(connection: Connection, exchange: ApiExchange): Promise<JsonObject> {
  const { response, text } = await exchangeText(connection, exchange);
  const answer = parseAnswer(text);
  const retryAfterSeconds = readRetryAfter(response.headers);
  if (answer?.result === 'error') {
    throw new ApiError({
      code: typeof answer.code === 'string' ? answer.code : 'UNKNOWN',
      message: typeof answer.msg === 'string' ? answer.msg : `HTTP status ${response.status}`,
      httpStatus: response.status,
      retryAfterSeconds,
      fields: answer,
    });
  }
  if (answer?.result !== 'success' || !isSuccess(response.status)) {
    const message = `${exchange.url} responded with HTTP ${response.status}, but not with a chat API result.`;
    throw new UnreachableError(message, { retryAfterSeconds, httpStatus: response.status });
  }
  return answer;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

async function exchangeText(connection: Connection, exchange: ApiExchange) {
  const { url, timeoutMilliseconds, method, headers, body } = exchange;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMilliseconds);
  const sentAt = connection.deviceClock();
  try {
    const response = await connection.fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      signal: abort.signal,
      // Credentials must not follow a redirect, and a cached response's `Date` would skew the server clock.
      redirect: 'error',
      credentials: 'omit',
      cache: 'no-store',
    });
    connection.serverClock.learn(response.headers.get('date'), sentAt, connection.deviceClock());
    return { response, text: await readText(response, maximumAnswerBytes) };
  } catch (cause) {
    if (cause instanceof UnreachableError) throw cause;
    if (abort.signal.aborted) {
      const message = `${url} did not answer within ${timeoutMilliseconds} ms.`;
      throw new UnreachableError(message, { reason: 'timeout', cause });
    }
    const { reason, sentence } = await explainFailure(connection.fetch, url, cause);
    throw new UnreachableError(`${url} cannot be reached${sentence}.`, { reason, cause });
  } finally {
    clearTimeout(timer);
  }
}

function parseAnswer(text: string): JsonObject | undefined {
  const value = parseJsonOrUndefined(text);
  return isJsonObject(value) ? value : undefined;
}

/**
 * Reads `Retry-After` in seconds. If the value is a date, compares it with the server's own `Date` header, so that an
 * error in the phone's clock has no effect.
 */
function readRetryAfter(headers: Headers): number | undefined {
  const asked = parseRetryAfter(headers.get('retry-after'), Date.parse(headers.get('date') ?? ''));
  return asked === undefined ? undefined : Math.ceil(asked / 1000);
}

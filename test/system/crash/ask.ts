import { type JsonObject, parseJson } from '@waxwing/protocol';

export interface Asked {
  readonly status: number;
  readonly body: JsonObject;
}

const patienceMilliseconds = 20_000;

/**
 * The error for a missing or incomplete response, with the cause. The other side may have processed the request anyway.
 */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer';

  constructor(url: string, cause: Error) {
    super(`${url} sent no complete response: ${causesOf(cause).join(': ')}`, { cause });
  }
}

/**
 * Posts a request and reads the whole response. @throws NoAnswer if the response is missing or incomplete, even if the
 * request was processed.
 */
export async function ask(
  url: string,
  authorization: string,
  content: URLSearchParams | string,
): Promise<Asked> {
  const type = typeof content === 'string' ? 'application/json' : 'application/x-www-form-urlencoded';
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization, 'content-type': type },
      body: content.toString(),
      signal: AbortSignal.timeout(patienceMilliseconds),
    });
    return { status: response.status, body: parseJson(await response.text()) as JsonObject };
  } catch (error) {
    // A refused or reset connection makes fetch throw TypeError. An incomplete body makes parsing throw SyntaxError.
    if (error instanceof TypeError || error instanceof SyntaxError) throw new NoAnswer(url, error);
    if ((error as Error).name === 'TimeoutError') throw new NoAnswer(url, error as Error);
    throw error;
  }
}

/** Sends an idempotent request up to three times, until it gets a response. @throws NoAnswer of the last attempt. */
export async function askPatiently(asking: () => Promise<Asked>): Promise<Asked> {
  return (await unlessSilent(asking())) ?? (await unlessSilent(asking())) ?? asking();
}

/**
 * Resolves to the result of `asking`, or to `undefined` if the response is missing or incomplete. A process may be
 * killed at any moment, so this is expected.
 */
export async function unlessSilent(asking: Promise<Asked>): Promise<Asked | undefined> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}

/**
 * Messages of an error and of all its causes, outermost first. Includes the causes because fetch's own message is the
 * least specific.
 */
function causesOf(error: unknown): string[] {
  return error instanceof Error ? [error.message, ...causesOf(error.cause)] : [];
}

export function basicAuthorization(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

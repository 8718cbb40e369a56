import { type JsonObject, parseJson } from '@waxwing/protocol';

export interface Asked {
  readonly status: number;
  readonly body: JsonObject;
}

const patienceMilliseconds = 20_000;

/**
 * The error for a missing or incomplete answer, with the reason. The other side may have processed the request anyway.
 */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer';

  constructor(url: string, cause: Error) {
    super(`${url} gave no answer: ${causesOf(cause).join(': ')}`, { cause });
  }
}

/** Posts and reads the whole answer. @throws NoAnswer if there is none, even if the request was processed. */
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
    // Refused, reset, cut in the middle of the answer, or silent: fetch throws TypeError, parsing SyntaxError.
    if (error instanceof TypeError || error instanceof SyntaxError) throw new NoAnswer(url, error);
    if ((error as Error).name === 'TimeoutError') throw new NoAnswer(url, error as Error);
    throw error;
  }
}

/** Sends an idempotent request up to three times until it is answered. @throws the last attempt's NoAnswer. */
export async function askPatiently(asking: () => Promise<Asked>): Promise<Asked> {
  return (await unlessSilent(asking())) ?? (await unlessSilent(asking())) ?? asking();
}

/**
 * Resolves to the result of `asking`, or to `undefined` if there was no answer, because the process may be killed at
 * any moment.
 */
export async function unlessSilent(asking: Promise<Asked>): Promise<Asked | undefined> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}

/** Returns the innermost cause, because fetch's outermost error is the least specific. */
function causesOf(error: unknown): string[] {
  return error instanceof Error ? [error.message, ...causesOf(error.cause)] : [];
}

export function basicAuthorization(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

import { type JsonObject, parseJson } from '@waxwing/protocol';

export interface Asked {
  readonly status: number;
  readonly body: JsonObject;
}

const patienceMilliseconds = 20_000;

/** Posts and reads the whole answer; `undefined` when none came, whatever the other side has done. */
export async function ask(
  url: string,
  authorization: string,
  content: URLSearchParams | string,
): Promise<Asked | undefined> {
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
    if (error instanceof TypeError || error instanceof SyntaxError) return undefined;
    if ((error as Error).name === 'TimeoutError') return undefined;
    throw error;
  }
}

export function basicAuthorization(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

import type { ChatServer } from './chat-server.js';

type Answer = Record<string, unknown>;

/** Sends a request that must succeed. String parameters are sent unchanged, other values as JSON. */
export type ChatAsk = (
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  fields: Record<string, unknown>,
) => Promise<Answer>;

export function askingAs({ port }: ChatServer, authorization: string): ChatAsk {
  return async (method, path, fields) => {
    const texts = Object.entries(fields).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    const form = new URLSearchParams(texts);
    const url = `http://127.0.0.1:${port}/api/v1/${path}`;
    const response =
      method === 'GET'
        ? await fetch(`${url}?${form}`, { headers: { authorization } })
        : await fetch(url, { method, body: form, headers: { authorization } });
    const answer = (await response.json()) as Answer;
    if (response.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
}

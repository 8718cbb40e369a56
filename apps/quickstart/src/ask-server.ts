import type { QuickstartUser } from './provision-server.js';

export type Asker = Pick<QuickstartUser, 'email' | 'api_key'>;

/**
 * Sends a form to the server as a user and returns the response.
 * @throws Error with the server's message if the server refuses the request
 */
export async function askServer<T>(
  serverUrl: string,
  { email, api_key: apiKey }: Asker,
  [method, path]: readonly ['POST' | 'PATCH', string],
  parameters: Readonly<Record<string, string>>,
): Promise<T> {
  const response = await fetch(`${serverUrl}/api/v1/${path}`, {
    method,
    headers: { authorization: `Basic ${btoa(`${email}:${apiKey}`)}` },
    body: new URLSearchParams(parameters),
  });
  const answer = (await response.json()) as { result: string; msg: string };
  if (answer.result !== 'success') throw new Error(`${method} ${path} failed: ${answer.msg}`);
  return answer as T;
}

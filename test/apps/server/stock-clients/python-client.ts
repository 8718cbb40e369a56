import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Account } from '../server-under-test.js';

/** The parameters that a program passes to the library. `undefined` stands for `None`. */
export type PythonParameters = Readonly<Record<string, unknown>>;
type PythonMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** A request by the public Python library. */
export interface PythonRequest {
  readonly method: PythonMethod;
  /** Relative to `/api/v1/`. */
  readonly path: string;
  readonly parameters?: PythonParameters;
  /** The name and content of an open file. */
  readonly file?: { readonly name: string; readonly content: string };
}

const boundary = '6138c38a4177ea73dcffbd1ed5adf0cc';

/** Serializes like `json.dumps`. */
function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([name, part]) => `${pythonJson(name)}: ${pythonJson(part)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Encodes like `urllib.parse.urlencode`, after the library has dropped `None` and converted other values to strings. */
export function pythonForm(parameters: PythonParameters): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, typeof value === 'string' ? value : pythonJson(value)].map(quotePlus))
    .map((pair) => pair.join('='))
    .join('&');
}

function quotePlus(part: string): string {
  return encodeURIComponent(part)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

/** Sends the same bytes as the library. Returns the status and the parsed response. */
export async function askAsPython(
  base: string,
  account: Account | undefined,
  { method, path, parameters = {}, file }: PythonRequest,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const form = pythonForm(parameters);
  const body = file === undefined ? form : multipart(file);
  const query = method === 'GET' && form !== '' ? `?${form}` : '';
  const type = file ? `multipart/form-data; boundary=${boundary}` : 'application/x-www-form-urlencoded';
  const headers = {
    'User-Agent': 'ZulipPython/0.9.1 (Linux; 6.1)',
    'Accept-Encoding': 'gzip, deflate',
    Accept: '*/*',
    Connection: 'keep-alive',
    // The library sends a content length but no content type for an empty form.
    ...(method === 'GET' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
    ...(method === 'GET' || body === '' ? {} : { 'Content-Type': type }),
    ...(account === undefined ? {} : { Authorization: account.authorization }),
  };
  const sent = request(`${base}/api/v1/${path}${query}`, { method, headers });
  sent.end(method === 'GET' ? '' : body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: JSON.parse(await text(response)) };
}

/** Like the library, names the part after the file, including its folder. */
function multipart({ name, content }: { readonly name: string; readonly content: string }): string {
  const disposition = `Content-Disposition: form-data; name="${name}"; filename="${name.split('/').at(-1)}"`;
  return `--${boundary}\r\n${disposition}\r\n\r\n${content}\r\n--${boundary}--\r\n`;
}

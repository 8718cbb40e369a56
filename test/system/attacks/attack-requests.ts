import { execFileSync } from 'node:child_process';

/** The text of an HTTP request. Adds Content-Length unless the headers set it. */
export function requestText(
  start: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | undefined = undefined,
): string {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const all = Object.entries({ host: 'localhost', ...length, ...headers });
  return [`${start} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`), '', body ?? ''].join(
    '\r\n',
  );
}

/** Encodes a string as attacker processes expect it. */
export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

const keptFiles = 200;

/** Limits `wanted` to the number of connections that one process on this machine can open. */
export function possibleConnections(wanted: number): number {
  const files = Number(execFileSync('sh', ['-c', 'ulimit -n']).toString());
  return Number.isNaN(files) ? wanted : Math.min(wanted, files - keptFiles);
}

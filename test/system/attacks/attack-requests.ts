import { execFileSync } from 'node:child_process';

/** The text of a request; the length of its body is added unless the headers say otherwise. */
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

/** As a process of attackers wants its bytes. */
export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

const keptFiles = 200;

/** So many connections, or as many as one process of this machine may have open. */
export function possibleConnections(wanted: number): number {
  const files = Number(execFileSync('sh', ['-c', 'ulimit -n']).toString());
  return Number.isNaN(files) ? wanted : Math.min(wanted, files - keptFiles);
}

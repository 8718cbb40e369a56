import type { IncomingMessage } from 'node:http';

/** A host as defined in RFC 3986, with an optional port. Empty if the request's URL has no host. */
const validHost = /^(?:\[[0-9a-z:.%~_-]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/**
 * Describes what is wrong with a request's Host header. Returns `undefined` if it is valid. A request may have only one
 * Host header, and in HTTP/1.1 must have one (RFC 9112 section 3.2). With two headers, a proxy and this server could
 * disagree about the host.
 */
export function describeHostProblem({
  headers,
  httpVersion,
  rawHeaders,
}: IncomingMessage): string | undefined {
  const { host } = headers;
  if (host === undefined) return httpVersion === '1.1' ? 'A request must have a Host header' : undefined;
  if (countHosts(rawHeaders) > 1) return 'A request must have only one Host header';
  return validHost.test(host)
    ? undefined
    : 'The Host header must be a host name or address, with a port or without';
}

/**
 * Counts Host fields. `rawHeaders` alternates between names and values. `headers` cannot be used, because Node keeps
 * only the first of several Host fields there.
 */
function countHosts(rawHeaders: readonly string[]): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length;
}

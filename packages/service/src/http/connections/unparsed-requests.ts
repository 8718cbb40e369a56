import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorCode, ProtocolError, refused } from '@waxwing/protocol';
import { errorAnswer, wholeHeaders } from '../error-answer.js';

/**
 * Maximum number of header fields. Bounds memory use: a head with thousands of tiny fields takes up ten times its size.
 */
export const maximumHeaderFields = 100;
/** Maximum length of the names and values of all header fields together. The path and query string do not count. */
const maximumFieldCharacters = 16 * 1024;

/** Protocol error codes for errors from Node's HTTP parser. Any other error means a malformed request. */
const codes: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_HEADER_OVERFLOW: 'REQUEST_HEADERS_TOO_LARGE',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
};

/** Returns the refusal for an error that Node reports in its `clientError` event instead of a request. */
export function unparsedRefusal({ code }: NodeJS.ErrnoException): ProtocolError {
  const known = codes[code ?? ''];
  return known === undefined ? refused('The request is not valid HTTP/1.1') : new ProtocolError(known);
}

/** Sends an error response on a connection without a response object, and ends the connection's writing side. */
export function answerUnparsed(socket: Socket, error: ProtocolError): void {
  const answer = errorAnswer(error);
  const head = [
    `HTTP/1.1 ${answer.httpStatus} ${STATUS_CODES[answer.httpStatus]}`,
    ...Object.entries(wholeHeaders(answer)).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${answer.body}`);
}

/** Whether a request head has more or longer header fields than the server accepts. */
export function hasTooManyFields({ rawHeaders }: IncomingMessage): boolean {
  if (rawHeaders.length > 2 * maximumHeaderFields) return true;
  let characters = 0;
  for (const text of rawHeaders) characters += text.length;
  return characters > maximumFieldCharacters;
}

import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  decodeJsonText,
  type ReceivedBody,
  readForm,
  readMultipart,
  readUpload,
  refuseType,
  refuseUnreadable,
} from './parse-body.js';

const formBytes = Symbol('formBytes');
const jsonText = Symbol('jsonText');
const multipartBytes = Symbol('multipartBytes');
const multipartStream = Symbol('multipartStream');
const unsupported = Symbol('unsupported');

/** Adds parsers for the three kinds of bodies that operations accept. Bodies of other types are discarded. */
export function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    (_request, bytes, done) => {
      done(null, { [formBytes]: bytes });
    },
  );
  // Buffered, so that Fastify's body limit applies. A streamed form could have a preamble, epilogue and part headers of
  // any size.
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, bytes, done) => {
    done(null, { [multipartBytes]: bytes });
  });
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) => {
    done(null, { [jsonText]: decodeJsonText(bytes as Buffer) });
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _bytes, done) => {
    done(null, { [unsupported]: true });
  });
}

/** Streams multipart forms in this scope, for operations that accept a file. */
export function acceptFiles(part: FastifyInstance): void {
  part.removeContentTypeParser('multipart/form-data');
  part.addContentTypeParser('multipart/form-data', (_request, stream, done) => {
    done(null, { [multipartStream]: stream });
  });
}

/** Maximum length of a URL that does not count toward the bytes in memory. */
const ordinaryUrlCharacters = 16 * 1024;

/**
 * Returns the memory that a long URL uses, in bytes, such as a URL with a message in its query string. Returns 0 for an
 * ordinary URL.
 */
export function longUrlBytes(url = ''): number {
  return url.length > ordinaryUrlCharacters ? url.length : 0;
}

/**
 * Returns an upper bound for the memory used by the body, in bytes. Returns 0 if there is no body, or if the body will
 * be refused as too large.
 */
export function expectedBodyBytes(
  { headers, method }: Pick<FastifyRequest, 'headers' | 'method'>,
  bodyLimitBytes: number,
): number {
  if (method === 'GET' || method === 'HEAD') return 0;
  if (headers['transfer-encoding'] !== undefined) return bodyLimitBytes;
  const bytes = Number(headers['content-length'] ?? 0);
  return bytes <= bodyLimitBytes ? bytes : 0;
}

/** Maximum size of a body that takes less than a millisecond to parse. */
const ordinaryBodyBytes = 64 * 1024;

/** Whether a buffered body may take several milliseconds to parse. */
export function isLarge({ body }: Pick<FastifyRequest, 'body'>): boolean {
  const parsed = body as { readonly [formBytes]?: Buffer; readonly [jsonText]?: string } | undefined | null;
  return (parsed?.[formBytes]?.length ?? parsed?.[jsonText]?.length ?? 0) > ordinaryBodyBytes;
}

/** Returns a request's body, synchronously except for multipart forms. `maximumFileBytes` applies to streamed forms. */
export function receiveBody(
  { body: parsed, headers }: FastifyRequest,
  maximumFileBytes: number,
): ReceivedBody | Promise<ReceivedBody> {
  const body = parsed as Record<string | symbol, unknown> | undefined | null;
  if (body === undefined || body === null) return { kind: 'none' };
  const unreadable = refuseUnreadable(headers);
  if (unreadable !== undefined) return unreadable;
  if (typeof body[jsonText] === 'string') return { kind: 'json', text: body[jsonText] };
  if (body[unsupported] === true) return refuseType(headers);
  if (body[multipartBytes] instanceof Buffer) return readMultipart(headers, body[multipartBytes]);
  const stream = body[multipartStream] as Readable | undefined;
  if (stream !== undefined) return readUpload(headers, stream, maximumFileBytes);
  return readForm(body[formBytes] as Buffer);
}

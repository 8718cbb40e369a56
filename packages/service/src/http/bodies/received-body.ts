import type { Readable } from 'node:stream';
import { type JsonValue, ProtocolError, parseJson, refused } from '@waxwing/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { charsetOf } from './charset.js';
import { type CollectedParameters, undecodable } from './collected-parameters.js';
import { parseMultipartForm, receiveUploadForm } from './multipart-form.js';
import { addUrlEncoded, decodeUtf8 } from './percent-encoding.js';
import type { UploadedFile } from './uploaded-file.js';

/** A received body. It is validated after authentication, so that errors tell unauthenticated clients nothing. */
export type ReceivedBody =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'form';
      readonly entries: CollectedParameters;
      readonly file?: UploadedFile | undefined;
    }
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'refused'; readonly error: ProtocolError };

const formBytes = Symbol('formBytes');
const jsonText = Symbol('jsonText');
const multipartBytes = Symbol('multipartBytes');
const multipartStream = Symbol('multipartStream');
const unsupported = Symbol('unsupported');

/** Adds parsers for the three kinds of body that operations take. A body of another type is discarded. */
export function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    (_request, bytes, done) => {
      done(null, { [formBytes]: bytes });
    },
  );
  // Buffered within Fastify's body limit: as a stream, preamble, epilogue and part headers would be unbounded.
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, bytes, done) => {
    done(null, { [multipartBytes]: bytes });
  });
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) => {
    done(null, { [jsonText]: decodeUtf8(bytes as Buffer) ?? undecodable });
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _bytes, done) => {
    done(null, { [unsupported]: true });
  });
}

/** Streams multipart forms in this scope, for operations that take a file. */
export function acceptFiles(part: FastifyInstance): void {
  part.removeContentTypeParser('multipart/form-data');
  part.addContentTypeParser('multipart/form-data', (_request, stream, done) => {
    done(null, { [multipartStream]: stream });
  });
}

/** Paths and query strings of at most this length are not counted as bytes in memory. */
const ordinaryUrlCharacters = 16 * 1024;

/** Bytes in memory of a long URL, such as one with a message's text in its query string; 0 for an ordinary one. */
export function longUrlBytes(url = ''): number {
  return url.length > ordinaryUrlCharacters ? url.length : 0;
}

/** Upper bound of the body's bytes in memory; 0 without a body, and for one that is refused as too large. */
export function expectedBodyBytes(
  { headers, method }: Pick<FastifyRequest, 'headers' | 'method'>,
  bodyLimitBytes: number,
): number {
  if (method === 'GET' || method === 'HEAD') return 0;
  if (headers['transfer-encoding'] !== undefined) return bodyLimitBytes;
  const bytes = Number(headers['content-length'] ?? 0);
  return bytes <= bodyLimitBytes ? bytes : 0;
}

/**
 * Returns a request's body by kind, synchronously except for multipart forms. `maximumFileBytes` applies to streamed
 * forms.
 */
export function receiveBody(
  request: FastifyRequest,
  maximumFileBytes: number,
): ReceivedBody | Promise<ReceivedBody> {
  const body = request.body as Record<string | symbol, unknown> | undefined | null;
  if (body === undefined || body === null) return { kind: 'none' };
  if (isEncoded(request)) return { kind: 'refused', error: unsupportedEncoding(request) };
  if (typeof body[jsonText] === 'string') return { kind: 'json', text: body[jsonText] };
  if (body[unsupported] === true) return { kind: 'refused', error: unsupportedType(request) };
  if (body[multipartBytes] instanceof Buffer || body[multipartStream] !== undefined) {
    return readMultipart(request, body, maximumFileBytes);
  }
  return readForm(request, body[formBytes] as Buffer);
}

/** @throws ProtocolError BAD_REQUEST if the text is not JSON, or not UTF-8. */
export function parseJsonBody(text: string): JsonValue {
  if (text === undecodable) throw refused('The request body must be UTF-8');
  try {
    return parseJson(text);
  } catch (cause) {
    throw new ProtocolError('BAD_REQUEST', { message: 'Malformed JSON in the request body', cause });
  }
}

function readForm(request: FastifyRequest, bytes: Buffer): ReceivedBody {
  const charset = charsetOf(request.headers['content-type'] ?? '');
  if (charset.decode === undefined) {
    const message = `Unsupported charset: ${charset.name}: send the form in UTF-8`;
    return { kind: 'refused', error: new ProtocolError('UNSUPPORTED_MEDIA_TYPE', { message }) };
  }
  const entries: CollectedParameters = new Map();
  addUrlEncoded(entries, bytes.toString('latin1'), charset.decode);
  return { kind: 'form', entries };
}

async function readMultipart(
  request: FastifyRequest,
  body: Record<string | symbol, unknown>,
  maximumFileBytes: number,
): Promise<ReceivedBody> {
  const contentType = request.headers['content-type'] ?? '';
  try {
    const bytes = body[multipartBytes];
    if (bytes instanceof Buffer)
      return { kind: 'form', entries: await parseMultipartForm(bytes, contentType) };
    const stream = body[multipartStream] as Readable;
    const form = await receiveUploadForm(stream, contentType, maximumFileBytes);
    return { kind: 'form', ...form };
  } catch (error) {
    if (error instanceof ProtocolError) return { kind: 'refused', error };
    throw error;
  }
}

function isEncoded({ headers }: FastifyRequest): boolean {
  return !/^\s*(?:identity)?\s*$/i.test(headers['content-encoding'] ?? '');
}

function unsupportedEncoding({ headers }: FastifyRequest): ProtocolError {
  const given = String(headers['content-encoding']).slice(0, 100);
  const message = `Unsupported content encoding: ${given}: send the body without compression`;
  return new ProtocolError('UNSUPPORTED_MEDIA_TYPE', { message });
}

function unsupportedType(request: FastifyRequest): ProtocolError {
  const given = String(request.headers['content-type'] ?? 'none').slice(0, 100);
  return new ProtocolError('UNSUPPORTED_MEDIA_TYPE', { message: `Unsupported content type: ${given}` });
}

import fastifyFormbody from '@fastify/formbody';
import fastifyMultipart, { type Multipart } from '@fastify/multipart';
import { type JsonValue, ProtocolError, parseJson } from '@waxwing/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { collectParameters } from './request-parameters.js';

/** A body as it arrived. It is judged only after authentication, so that a stranger learns nothing from refusals. */
export type ReceivedBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'form'; readonly entries: ReadonlyMap<string, readonly string[]> }
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'refused'; readonly error: ProtocolError };

const maximumMultipartFields = 200;
const jsonText = Symbol('jsonText');
const unsupported = Symbol('unsupported');

/** Teaches the app the three kinds of body that operations take, and to set aside any other. */
export async function acceptBodies(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers();
  await app.register(fastifyFormbody);
  await app.register(fastifyMultipart, { throwFileSizeLimit: true });
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    done(null, { [jsonText]: text });
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _bytes, done) => {
    done(null, { [unsupported]: true });
  });
}

/** The body of one request, sorted by kind. Reads a multipart form to its end. */
export async function receiveBody(request: FastifyRequest, bodyLimitBytes: number): Promise<ReceivedBody> {
  if (request.isMultipart()) return receiveMultipart(request, bodyLimitBytes);
  const body = request.body as Record<string | symbol, unknown> | undefined | null;
  if (body === undefined || body === null) return { kind: 'none' };
  if (typeof body[jsonText] === 'string') return { kind: 'json', text: body[jsonText] };
  if (body[unsupported] === true) return { kind: 'refused', error: unsupportedType(request) };
  const entries = new Map<string, string[]>();
  collectParameters(entries, Object.entries(body as Record<string, string | string[]>));
  return { kind: 'form', entries };
}

/** @throws ProtocolError BAD_REQUEST when the text is not JSON. */
export function parseJsonBody(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new ProtocolError('BAD_REQUEST', { message: 'Malformed JSON in the request body', cause });
  }
}

async function receiveMultipart(request: FastifyRequest, bodyLimitBytes: number): Promise<ReceivedBody> {
  const entries = new Map<string, string[]>();
  let receivedBytes = 0;
  const sizes = { fieldSize: bodyLimitBytes, fileSize: bodyLimitBytes };
  const limits = { ...sizes, fields: maximumMultipartFields, files: maximumMultipartFields };
  try {
    if (Number(request.headers['content-length'] ?? 0) > bodyLimitBytes) throw tooLarge();
    for await (const part of request.parts({ limits, isPartAFile: isReadAsFile })) {
      const value = await readPart(part);
      receivedBytes += Buffer.byteLength(part.fieldname) + Buffer.byteLength(value);
      if (receivedBytes > bodyLimitBytes) throw tooLarge();
      collectParameters(entries, [[part.fieldname, value]]);
    }
  } catch (cause) {
    request.raw.resume();
    const message = 'Malformed multipart form in the request body';
    const error =
      cause instanceof ProtocolError ? cause : new ProtocolError('BAD_REQUEST', { message, cause });
    return { kind: 'refused', error };
  }
  return { kind: 'form', entries };
}

// As a field, a part of type application/json would be parsed, and its 64-bit integers rounded.
function isReadAsFile(_name?: string, contentType?: string, fileName?: string): boolean {
  return fileName !== undefined || contentType?.startsWith('application/json') === true;
}

async function readPart(part: Multipart): Promise<string> {
  if (part.type === 'field') {
    if (part.fieldnameTruncated || part.valueTruncated) throw tooLarge();
    return String(part.value);
  }
  if (part.filename !== undefined) {
    throw new ProtocolError('BAD_REQUEST', { message: 'Files are not accepted' });
  }
  return (await part.toBuffer()).toString('utf8');
}

function tooLarge(): ProtocolError {
  return new ProtocolError('PAYLOAD_TOO_LARGE');
}

function unsupportedType(request: FastifyRequest): ProtocolError {
  const given = String(request.headers['content-type'] ?? 'none').slice(0, 100);
  return new ProtocolError('UNSUPPORTED_MEDIA_TYPE', { message: `Unsupported content type: ${given}` });
}

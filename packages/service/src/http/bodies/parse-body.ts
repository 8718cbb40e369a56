import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { type JsonValue, ProtocolError, parseJson, refused } from '@waxwing/protocol';
import { charsetField, requireUtf8, requireUtf8Type } from './charset.js';
import { type CollectedParameters, undecodable } from './collected-parameters.js';
import { parseMultipartForm, receiveUploadForm } from './multipart-form.js';
import { addUrlEncoded, decodeUtf8 } from './percent-encoding.js';
import type { UploadedFile } from './uploaded-file.js';

/** A received body. Validated only after authentication, so that unauthenticated clients learn nothing from errors. */
export type ReceivedBody =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'form';
      readonly entries: CollectedParameters;
      readonly file?: UploadedFile | undefined;
    }
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'refused'; readonly error: ProtocolError };

/** The headers that describe the body. */
export type BodyHeaders = Pick<IncomingHttpHeaders, 'content-type' | 'content-encoding'>;

/** Parses a buffered body by its media type. */
export function parseBody(headers: BodyHeaders, bytes: Buffer): ReceivedBody | Promise<ReceivedBody> {
  const unreadable = refuseUnreadable(headers);
  if (unreadable !== undefined) return unreadable;
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';', 1);
  switch (mediaType.trim().toLowerCase()) {
    case 'application/x-www-form-urlencoded':
      return readForm(bytes);
    case 'multipart/form-data':
      return readMultipart(headers, bytes);
    case 'application/json':
      return { kind: 'json', text: decodeJsonText(bytes) };
    default:
      return refuseType(headers);
  }
}

/** Returns the text of a JSON body, or `undecodable` if the body is not valid UTF-8. */
export function decodeJsonText(bytes: Buffer): string {
  return decodeUtf8(bytes) ?? undecodable;
}

/** Parses the text of a JSON body. @throws ProtocolError BAD_REQUEST if it is not valid JSON or not valid UTF-8. */
export function parseJsonBody(text: string): JsonValue {
  if (text === undecodable) throw refused('The request body must be UTF-8');
  try {
    return parseJson(text);
  } catch (cause) {
    throw new ProtocolError('BAD_REQUEST', { message: 'Malformed JSON in the request body', cause });
  }
}

export function readForm(bytes: Buffer): ReceivedBody {
  const entries: CollectedParameters = new Map();
  addUrlEncoded(entries, bytes.toString('latin1'));
  const charsets = [entries.get(charsetField) ?? []].flat();
  return refusal(() => charsets.forEach(requireUtf8)) ?? { kind: 'form', entries };
}

export function readMultipart(headers: BodyHeaders, bytes: Buffer): Promise<ReceivedBody> {
  return refusing(async () => ({
    kind: 'form',
    entries: await parseMultipartForm(bytes, headers['content-type'] ?? ''),
  }));
}

/** Reads a multipart form up to the file, which is streamed. */
export function readUpload(
  headers: BodyHeaders,
  stream: Readable,
  maximumFileBytes: number,
): Promise<ReceivedBody> {
  return refusing(async () => {
    const form = await receiveUploadForm(stream, headers['content-type'] ?? '', maximumFileBytes);
    return { kind: 'form', ...form };
  });
}

async function refusing(read: () => Promise<ReceivedBody>): Promise<ReceivedBody> {
  try {
    return await read();
  } catch (error) {
    return asRefused(error);
  }
}

/** Runs a check. Returns its error, or `undefined` if the check passes. */
function refusal(check: () => void): ReceivedBody | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return asRefused(error);
  }
}

function asRefused(error: unknown): ReceivedBody {
  if (error instanceof ProtocolError) return { kind: 'refused', error };
  throw error;
}

/** Refuses compressed bodies and text in a charset other than UTF-8. Returns `undefined` for all other bodies. */
export function refuseUnreadable(headers: BodyHeaders): ReceivedBody | undefined {
  const { 'content-encoding': encoding = '', 'content-type': type = '' } = headers;
  if (/^\s*(?:identity)?\s*$/i.test(encoding)) return refusal(() => requireUtf8Type(type));
  return refuse(`Unsupported content encoding: ${encoding.slice(0, 100)}: send the body without compression`);
}

export function refuseType(headers: BodyHeaders): ReceivedBody {
  const given = String(headers['content-type'] ?? 'none').slice(0, 100);
  return refuse(`Unsupported content type: ${given}`);
}

function refuse(message: string): ReceivedBody {
  return { kind: 'refused', error: new ProtocolError('UNSUPPORTED_MEDIA_TYPE', { message }) };
}

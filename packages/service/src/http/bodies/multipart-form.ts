import { PassThrough, pipeline, type Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { ProtocolError, refused } from '@waxwing/protocol';
import { charsetField, requireUtf8 } from './charset.js';
import { addParameter, type CollectedParameters, undecodable } from './collected-parameters.js';
import { headerParameters } from './header-parameters.js';
import { attempt, checkParts, withoutName } from './part-heads.js';
import { decodeUtf8 } from './percent-encoding.js';
import type { UploadedFile } from './uploaded-file.js';

/** Maximum number of fields, including empty parts. */
const maximumMultipartFields = 200;
const maximumNameBytes = 100;
/**
 * Maximum total size of the names and values of fields sent with a file. Fields stay in memory while the file is
 * streamed.
 */
const maximumFieldBytes = 64 * 1024;
/** Size of the chunks fed to the parser. Small, so that parsing stops soon after a form is refused. */
const chunkBytes = 4096;
const withoutBoundary =
  'The Content-Type of a multipart form must name its boundary, of 1 to 70 characters: multipart/form-data; boundary=x';
const tooManyFiles = 'You may only send one file at a time';
const tooManyParts = `A multipart form must have at most ${maximumMultipartFields} parts`;
const longName = `The name of a part must be at most ${maximumNameBytes} bytes`;
const largeFields = 'The fields of a multipart form are too large';

/** The fields of a form, and its file as a stream. */
export interface UploadForm {
  readonly entries: CollectedParameters;
  readonly file: UploadedFile | undefined;
}

/**
 * Parses the fields of a buffered multipart form, as text.
 * @throws ProtocolError BAD_REQUEST for a file, a part without a name, more than 200 parts, or a malformed form;
 * PAYLOAD_TOO_LARGE for a name of more than 100 bytes.
 */
export async function parseMultipartForm(body: Buffer, contentType: string): Promise<CollectedParameters> {
  return refusingMalformed(
    new Promise((resolve, reject) => {
      const entries: CollectedParameters = new Map();
      const parser = readFields(contentType, {
        entries,
        maximumFieldBytes: Number.POSITIVE_INFINITY,
        reject,
      });
      parser.on('file', (_name, file) => {
        file.resume();
        reject(refused('Files are not accepted'));
        parser.destroy();
      });
      parser.on('finish', () => resolve(entries));
      for (let start = 0; start < body.length && !parser.destroyed; start += chunkBytes) {
        parser.write(body.subarray(start, start + chunkBytes));
      }
      parser.end();
    }),
  );
}

/**
 * Parses a streamed multipart form up to its file, and returns the file as a stream. Fields after the file are ignored.
 * The stream fails with PAYLOAD_TOO_LARGE if the file exceeds `maximumFileBytes`, and with BAD_REQUEST if a second file
 * or an invalid field follows or if the connection ends early.
 * @throws ProtocolError like {@link parseMultipartForm}; also PAYLOAD_TOO_LARGE if the fields exceed 64 KiB in total
 */
export async function receiveUploadForm(
  source: Readable,
  contentType: string,
  maximumFileBytes: number,
): Promise<UploadForm> {
  return refusingMalformed(
    new Promise((resolve, reject) => {
      const entries: CollectedParameters = new Map();
      const content = new PassThrough();
      // The file's reader also receives the error. Without this listener, the error would crash the process.
      content.on('error', () => undefined);
      let isFirst = true;
      const refuse = (error: Error): void => {
        reject(error);
        content.destroy(asBadRequest(error));
      };
      const parser = readFields(contentType, {
        entries,
        maximumFieldBytes,
        maximumFileBytes,
        reject: refuse,
      });
      parser.on('file', (_field, stream, name = '', _encoding, type) => {
        stream.on('error', (cause) => content.destroy(malformed(cause)));
        if (!isFirst) {
          stream.resume();
          content.destroy(refused(tooManyFiles));
          return;
        }
        isFirst = false;
        stream.once('limit', () => content.destroy(new ProtocolError('PAYLOAD_TOO_LARGE')));
        // The file ends only when the whole form has been read, because a later part may still be invalid.
        stream.pipe(content, { end: false });
        // If the reader stops early, drains the rest so that the request can end. Runs after the `close` listener of
        // `pipe`, which pauses the stream.
        content.once('close', () => stream.resume());
        resolve({ entries: new Map(entries), file: { name, contentType: type, content } });
      });
      // `pipeline` reports errors of both the source and the parser.
      pipeline(source, parser, (error) => {
        if (error) {
          content.destroy(malformed(error));
        } else {
          content.end();
          resolve({ entries, file: undefined });
        }
      });
    }),
  );
}

interface FieldsToRead {
  readonly entries: CollectedParameters;
  /** Maximum total size of all fields. */
  readonly maximumFieldBytes: number;
  readonly maximumFileBytes?: number;
  readonly reject: (error: Error) => void;
}

function readFields(contentType: string, options: FieldsToRead): BusboyInstance {
  const { entries, maximumFieldBytes: fieldSize, reject } = options;
  const { maximumFileBytes: fileSize = Number.POSITIVE_INFINITY } = options;
  const headers: BusboyHeaders = { 'content-type': contentType };
  // With an empty boundary, the parser would treat every line that starts with two hyphens as a boundary.
  if (!/^.{1,70}$/s.test(headerParameters(contentType).get('boundary') ?? '')) throw refused(withoutBoundary);
  const parser = new Busboy({
    headers,
    limits: { fieldSize, fileSize, parts: maximumMultipartFields },
    // Latin-1 preserves each byte as one character. With UTF-8, the parser would replace invalid bytes.
    defCharset: 'latin1',
    isPartAFile: (_name, _type, fileName) => fileName !== undefined,
  });
  let bytesLeft = fieldSize;
  // Rejects instead of throwing, because this function is called in the parser's event handlers.
  const refuse = (error: Error): void => {
    reject(error);
    parser.destroy();
  };
  checkParts(parser, refuse);
  parser.on('field', (name: string | undefined, value, _nameTruncated, isTruncated) => {
    if (name === undefined) return refuse(refused(withoutName));
    const nameBytes = Buffer.byteLength(name);
    bytesLeft -= nameBytes + value.length;
    // The parser's own limit on names applies only to urlencoded forms.
    if (nameBytes > maximumNameBytes) refuse(new ProtocolError('PAYLOAD_TOO_LARGE', { message: longName }));
    else if (isTruncated || bytesLeft < 0) {
      refuse(new ProtocolError('PAYLOAD_TOO_LARGE', { message: largeFields }));
    } else addParameter(entries, name, decodeUtf8(Buffer.from(value, 'latin1')) ?? undecodable);
    if (name === charsetField) attempt(() => requireUtf8(value), refuse);
  });
  parser.on('partsLimit', () => refuse(refused(tooManyParts)));
  parser.on('error', reject);
  return parser;
}

async function refusingMalformed<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (cause) {
    throw malformed(cause);
  }
}

function malformed(cause: unknown): ProtocolError {
  if (cause instanceof ProtocolError) return cause;
  return new ProtocolError('BAD_REQUEST', { message: 'Malformed multipart form in the request body', cause });
}

/** Converts an error after the file to BAD_REQUEST, because PAYLOAD_TOO_LARGE would seem to refer to the file itself. */
function asBadRequest(cause: Error): ProtocolError {
  const { message } = malformed(cause);
  return new ProtocolError('BAD_REQUEST', { message, cause });
}

import { PassThrough, pipeline, type Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { ProtocolError, refused } from '@waxwing/protocol';
import { addParameter, type CollectedParameters } from './collected-parameters.js';
import type { UploadedFile } from './uploaded-file.js';

/** Parts of a form, empty ones among them. */
const maximumMultipartFields = 200;
const maximumNameBytes = 100;
/** Of the names and values of all fields beside a file: they are kept while the file is read. */
const maximumFieldBytes = 64 * 1024;
/** So that a form that is refused is not read to its end. */
const pieceBytes = 4096;
const withoutName = 'Each part of a multipart form must have a name in its Content-Disposition';
const tooManyFiles = 'You may only send one file at a time';
const tooManyParts = `A multipart form has at most ${maximumMultipartFields} parts`;
const longName = `The name of a part has at most ${maximumNameBytes} bytes`;
const largeFields = 'The fields of a multipart form are too large';

/** A form whose file, if it has one, is still to be read. */
export interface UploadForm {
  readonly entries: CollectedParameters;
  readonly file: UploadedFile | undefined;
}

/**
 * The fields of a multipart form that has arrived whole, each as it was written, whatever its type.
 * @throws ProtocolError BAD_REQUEST for files, parts without a name, too many parts, and for what is no such form;
 * PAYLOAD_TOO_LARGE for a name of more than a hundred bytes.
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
      for (let start = 0; start < body.length && !parser.destroyed; start += pieceBytes) {
        parser.write(body.subarray(start, start + pieceBytes));
      }
      parser.end();
    }),
  );
}

/**
 * The fields of a multipart form up to its file, and the file as it comes; fields after the file are left out.
 * @throws ProtocolError as {@link parseMultipartForm}, and PAYLOAD_TOO_LARGE for fields of more than 64 KiB in all; the
 * file's content fails with PAYLOAD_TOO_LARGE when it is longer than `maximumFileBytes`, with BAD_REQUEST when another file
 * follows or a field that would have been refused before it, and with the connection's error when that ends first.
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
      // Whoever reads it learns of what goes wrong; where nobody does there is nobody to tell.
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
        // Its end is told when the form has ended: until then it may prove to be no good form.
        stream.pipe(content, { end: false });
        // Read to its end also where nobody wants the rest, so that the request comes to its own: after the pipe's own
        // end, which stops the reading.
        content.once('close', () => stream.resume());
        resolve({ entries: new Map(entries), file: { name, contentType: type, content } });
      });
      // What the source fails with the parser fails with as well.
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
  /** Of all of them together. */
  readonly maximumFieldBytes: number;
  readonly maximumFileBytes?: number;
  readonly reject: (error: Error) => void;
}

function readFields(contentType: string, options: FieldsToRead): BusboyInstance {
  const { entries, maximumFieldBytes: fieldSize, reject } = options;
  const { maximumFileBytes: fileSize = Number.POSITIVE_INFINITY } = options;
  const headers: BusboyHeaders = { 'content-type': contentType };
  const parser = new Busboy({
    headers,
    limits: { fieldSize, fileSize, parts: maximumMultipartFields },
    isPartAFile: (_name, _type, fileName) => fileName !== undefined,
  });
  let bytesLeft = fieldSize;
  // Nothing may be thrown here: the parser calls this from events of its own.
  const refuse = (error: Error): void => {
    reject(error);
    parser.destroy();
  };
  parser.on('field', (name: string | undefined, value, _nameTruncated, isTruncated) => {
    if (name === undefined) return refuse(refused(withoutName));
    const nameBytes = Buffer.byteLength(name);
    bytesLeft -= nameBytes + Buffer.byteLength(value);
    // The parser's own limit for names holds in the other kind of form alone.
    if (nameBytes > maximumNameBytes) refuse(new ProtocolError('PAYLOAD_TOO_LARGE', { message: longName }));
    else if (isTruncated || bytesLeft < 0) {
      refuse(new ProtocolError('PAYLOAD_TOO_LARGE', { message: largeFields }));
    } else addParameter(entries, name, value);
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

/** What is said of a refusal that came after the file, whose own size another code tells. */
function asBadRequest(cause: Error): ProtocolError {
  const { message } = malformed(cause);
  return new ProtocolError('BAD_REQUEST', { message, cause });
}

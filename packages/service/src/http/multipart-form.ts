import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { ProtocolError } from '@waxwing/protocol';
import { collectParameters } from './request-parameters.js';

/** Parts of a form, empty ones among them. */
const maximumMultipartFields = 200;
const maximumNameBytes = 100;
/** So that a form that is refused is not read to its end. */
const pieceBytes = 4096;
const withoutName = 'Each part of a multipart form must have a name in its Content-Disposition';

/**
 * The fields of a multipart form that has arrived whole, each as it was written, whatever its type.
 * @throws ProtocolError BAD_REQUEST for files, parts without a name, too many parts, and for what is no such form;
 * PAYLOAD_TOO_LARGE for a name of more than a hundred bytes.
 */
export async function parseMultipartForm(
  body: Buffer,
  contentType: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  try {
    return await readFields(body, { 'content-type': contentType });
  } catch (cause) {
    if (cause instanceof ProtocolError) throw cause;
    throw new ProtocolError('BAD_REQUEST', {
      message: 'Malformed multipart form in the request body',
      cause,
    });
  }
}

function readFields(body: Buffer, headers: BusboyHeaders): Promise<Map<string, string[]>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, string[]>();
    const tooMany = `A multipart form has at most ${maximumMultipartFields} parts`;
    const parser = new Busboy({
      headers,
      limits: { fieldSize: body.length, parts: maximumMultipartFields },
      isPartAFile: (_name, _type, fileName) => fileName !== undefined,
    });
    const refuse = (error: Error): void => {
      reject(error);
      parser.destroy();
    };
    // Nothing may be thrown here: the parser calls this from events of its own.
    parser.on('field', (name: string | undefined, value) => {
      if (name === undefined) refuse(new ProtocolError('BAD_REQUEST', { message: withoutName }));
      // The parser's own limit for names holds in the other kind of form alone.
      else if (Buffer.byteLength(name) > maximumNameBytes) refuse(new ProtocolError('PAYLOAD_TOO_LARGE'));
      else collectParameters(entries, [[name, value]]);
    });
    parser.on('file', (_name, file) => {
      file.resume();
      refuse(new ProtocolError('BAD_REQUEST', { message: 'Files are not accepted' }));
    });
    parser.on('partsLimit', () => refuse(new ProtocolError('BAD_REQUEST', { message: tooMany })));
    parser.on('error', reject);
    parser.on('finish', () => resolve(entries));
    for (let start = 0; start < body.length && !parser.destroyed; start += pieceBytes) {
      parser.write(body.subarray(start, start + pieceBytes));
    }
    parser.end();
  });
}

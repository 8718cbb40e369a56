import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import type { JsonObject, ProtocolError } from '@waxwing/protocol';
import { errorAnswer, json, wholeHeaders } from '../error-answer.js';
import { publishAnswer } from '../operations/answer-channel.js';
import { EncodedAnswer, encodedBody } from '../operations/encoded-answer.js';
import { ListAnswer, streamList } from '../operations/list-answer.js';
import { RawAnswer, type SpecialAnswer } from '../operations/operation.js';
import type { ReceivedRequest } from '../operations/received-request.js';
import type { ServedOperation } from '../operations/served-operation.js';
import { ignoredParameters, successBody } from '../operations/success-answer.js';

/** Returns the response for a success. The response to HEAD is the same as to GET, but without the body. */
export function successResponse(
  request: Request,
  { declared, reader }: ServedOperation,
  { answer, received }: { readonly answer: JsonObject | SpecialAnswer; received: ReceivedRequest },
): Response {
  const isHead = request.method === 'HEAD';
  if (answer instanceof RawAnswer) {
    const { body, fields, headers, httpStatus } = answer;
    publishAnswer(() => ({ declared, httpStatus, code: undefined, fields }));
    return respond(body, { status: httpStatus, headers, isHead });
  }
  const extra = ignoredParameters(received, reader);
  const headers = { 'cache-control': 'no-store', 'content-type': json };
  if (answer instanceof EncodedAnswer) {
    publishAnswer(() => ({ declared, httpStatus: 200, code: undefined, fields: answer.decode() }));
    const { body, bytes } = encodedBody(answer, extra);
    const length = { 'content-length': String(bytes) };
    return respond(body, { status: 200, headers: { ...headers, ...length }, isHead });
  }
  if (!(answer instanceof ListAnswer)) {
    publishAnswer(() => ({ declared, httpStatus: 200, code: undefined, fields: answer }));
    return respond(successBody(answer, extra), { status: 200, headers, isHead });
  }
  const publish = (chunk: readonly unknown[]): void =>
    publishAnswer(() => {
      const fields = { ...answer.rest, [answer.name]: chunk };
      return { declared, httpStatus: 200, code: undefined, fields };
    });
  publish([]);
  const streaming = { onChunk: publish, beginChunk: async () => {}, endChunk() {}, onComplete() {} };
  return respond(streamList(answer, extra, streaming), {
    status: 200,
    headers: { ...answer.headers, 'content-type': json },
    isHead,
  });
}

export function errorResponse({ method }: Request, error: ProtocolError): Response {
  const answer = errorAnswer(error);
  const isHead = method === 'HEAD';
  return respond(answer.body, { status: answer.httpStatus, headers: wholeHeaders(answer), isHead });
}

interface Head {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly isHead: boolean;
}

// For these statuses, the Fetch API does not allow a body, not even an empty one.
const statusesWithoutBody = [204, 205, 304];

function respond(body: string | Readable | undefined, { status, headers, isHead }: Head): Response {
  if (body === undefined || statusesWithoutBody.includes(status)) {
    if (body instanceof Readable) body.destroy();
    return new Response(null, { status, headers });
  }
  if (body instanceof Readable) {
    if (isHead) body.destroy();
    return new Response(isHead ? null : asWebStream(body), { status, headers });
  }
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  return new Response(isHead ? null : body, { status, headers: { ...headers, ...length } });
}

// Node's web stream type and the type used by `Response` are declared separately, but they are the same class.
function asWebStream(body: Readable): ReadableStream {
  return Readable.toWeb(body) as WebStream as unknown as ReadableStream;
}

import type { JsonObject } from '@waxwing/protocol';
import { RawAnswer, type RequestHead } from './operation.js';
import { successBody } from './success-answer.js';

export interface CacheableAnswer {
  /** The ETag without quotes, in printable ASCII. */
  readonly version: string;
  /** `max-age` for public caches, in seconds. */
  readonly maximumAgeSeconds: number;
  /** The response fields other than `result` and `msg`. */
  readonly fields: JsonObject;
}

/**
 * Builds a cacheable success with an ETag, or a 304 without a body if `If-None-Match` matches it (RFC 9110 section
 * 13.1.2). Fastify's plugin, `@fastify/etag` 6.2, is not an alternative. It supports neither lists nor `*`, and
 * responds with 304 even to POST requests and for errors. With a 304, it also sends a content type and a length of 0,
 * which caches would store.
 */
export function cacheableAnswer(request: Pick<RequestHead, 'header'>, answer: CacheableAnswer): RawAnswer {
  const etag = `"${answer.version}"`;
  const headers = { etag, 'cache-control': `public, max-age=${answer.maximumAgeSeconds}` };
  if (namesEtag(request.header('if-none-match'), etag)) return new RawAnswer(304, headers, undefined);
  const body = successBody(answer.fields);
  const type = { 'content-type': 'application/json; charset=utf-8' };
  return new RawAnswer(200, { ...headers, ...type }, body, answer.fields);
}

/**
 * Returns headers that let a client keep a private copy of a response and revalidate it before each use. `isCurrent` is
 * true if `If-None-Match` contains this version; the caller then responds with 304. The ETag is weak, because a
 * streamed list can change while it is sent.
 * @param version changes whenever the answer may change, for example with the client's permissions; printable ASCII
 */
export function revalidation(request: Pick<RequestHead, 'header'>, version: string) {
  const etag = `"${version}"`;
  const headers = { etag: `W/${etag}`, 'cache-control': 'private, no-cache', vary: 'Authorization' };
  return { headers, isCurrent: namesEtag(request.header('if-none-match'), etag) };
}

function namesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  const named = ifNoneMatch?.split(',').map((text) => text.trim().replace(/^W\//, '')) ?? [];
  return named.includes(etag) || named.includes('*');
}

import { type JsonObject, stringifyJson } from '@waxwing/protocol';
import { RawAnswer, type RequestHead } from './operation.js';

export interface CacheableAnswer {
  /** Names this version of the answer; printable ASCII without quotes. */
  readonly version: string;
  /** How long anybody may keep it without asking again. */
  readonly maximumAgeSeconds: number;
  /** The answer's fields beside `result` and `msg`. */
  readonly fields: JsonObject;
}

/**
 * A success that caches may keep, with its ETag; 304 without a body for a request whose `If-None-Match` names it
 * (RFC 9110 section 13.1.2). Fastify's own plugin, `@fastify/etag` 6.2, knows neither lists nor `*`, says 304 to POST
 * and in place of errors too, and sends with it the type and a length of 0, which caches would take over.
 */
export function cacheableAnswer(request: Pick<RequestHead, 'header'>, answer: CacheableAnswer): RawAnswer {
  const etag = `"${answer.version}"`;
  const headers = { etag, 'cache-control': `public, max-age=${answer.maximumAgeSeconds}` };
  if (namesEtag(request.header('if-none-match'), etag)) return new RawAnswer(304, headers, undefined);
  const body = `${stringifyJson({ result: 'success', msg: '', ...answer.fields })}\n`;
  const type = { 'content-type': 'application/json; charset=utf-8' };
  return new RawAnswer(200, { ...headers, ...type }, body, answer.fields);
}

function namesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  const named = ifNoneMatch?.split(',').map((text) => text.trim().replace(/^W\//, '')) ?? [];
  return named.includes(etag) || named.includes('*');
}

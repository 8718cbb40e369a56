import { keyListPath } from '@waxwing/protocol';
import { type Operation, RawAnswer } from '@waxwing/service';
import type { PublishedKeyList } from './key-ring.js';

const cacheControl = 'public, max-age=60';

export interface KeyListContext {
  readonly keyRing: { publishedKeyList(): PublishedKeyList };
}

/**
 * `GET /remotes/push/e2ee/keys`: the signed key list, for anybody. All relays of a ring answer the same bytes until the
 * next list is signed; `If-None-Match` with its ETag is answered 304 without a body (RFC 9110 section 13.1.2).
 */
export function keyListOperation({ keyRing }: KeyListContext): Operation {
  return {
    method: 'GET',
    path: keyListPath,
    async handle(request) {
      const list = keyRing.publishedKeyList();
      const etag = `"${list.sequence}"`;
      const headers = { etag, 'cache-control': cacheControl };
      if (namesEtag(request.header('if-none-match'), etag)) return new RawAnswer(304, headers, '');
      const body = JSON.stringify({
        result: 'success',
        msg: '',
        key_list: list.keyList,
        signature: list.signature,
        signing_public_key: list.signingPublicKey,
      });
      const type = { 'content-type': 'application/json; charset=utf-8' };
      return new RawAnswer(200, { ...headers, ...type }, `${body}\n`);
    },
  };
}

function namesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  const named = ifNoneMatch?.split(',').map((text) => text.trim().replace(/^W\//, '')) ?? [];
  return named.includes(etag) || named.includes('*');
}

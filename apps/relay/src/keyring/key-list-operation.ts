import { keyListPath } from '@waxwing/protocol';
import { cacheableAnswer, type Operation } from '@waxwing/service/http';
import type { PublishedKeyList } from './key-ring.js';

const maximumAgeSeconds = 60;

export interface KeyListContext {
  readonly keyRing: { publishedKeyList(): PublishedKeyList };
}

/**
 * `GET /remotes/push/e2ee/keys`: the signed key list, for anybody. All relays of a ring answer the same bytes until the
 * next list is signed; `If-None-Match` with its ETag is answered 304 without a body.
 */
export function keyListOperation({ keyRing }: KeyListContext): Operation {
  return {
    method: 'GET',
    path: keyListPath,
    async handle(request) {
      const { sequence, keyList, signature, signingPublicKey } = keyRing.publishedKeyList();
      return cacheableAnswer(request, {
        version: String(sequence),
        maximumAgeSeconds,
        fields: { key_list: keyList, signature, signing_public_key: signingPublicKey },
      });
    },
  };
}

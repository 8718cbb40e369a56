import { keyListFields, keyListPath } from '@waxwing/protocol';
import { anyone, cacheableAnswer, noParameters, operation } from '@waxwing/service/http';
import type { PublishedKeyList } from '../ring/key-ring.js';

const maximumAgeSeconds = 60;

export interface KeyListContext {
  readonly keyRing: { publishedKeyList(): PublishedKeyList };
}

/**
 * `GET /remotes/push/e2ee/keys`: the signed key list, without authentication. All relays that share a ring serve the
 * same bytes until the next list is signed. Responds with 304 and no body if `If-None-Match` has the current ETag.
 */
export const getKeyList = operation({
  method: 'GET',
  path: keyListPath,
  summary: 'Returns the signed list of the public keys that registrations are sealed to.',
  actor: anyone,
  parameters: noParameters,
  answer: keyListFields,
  isCacheable: true,
  codes: [],
  async handle({ keyRing }: KeyListContext, { head }) {
    const { sequence, keyList, signature, signingPublicKey } = keyRing.publishedKeyList();
    return cacheableAnswer(head, {
      version: String(sequence),
      maximumAgeSeconds,
      fields: { key_list: keyList, signature, signing_public_key: signingPublicKey },
    });
  },
});

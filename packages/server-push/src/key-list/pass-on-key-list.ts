import { createHash } from 'node:crypto';
import { bouncerKeysPath, ProtocolError } from '@waxwing/protocol';
import { cacheableAnswer, type Operation } from '@waxwing/service/http';
import { retryRefusal } from '../relay-link/retry-refusal.js';
import { type KeyListCache, keyListMaximumAgeSeconds } from './key-list-cache.js';

/**
 * `GET /api/v1/mobile_push/bouncer_keys`: the relay's signed key list unchanged, for phones that reach only their
 * server; for anybody, cacheable, with ETag. The server need not be trusted with it: phones check the signature.
 * Refuses with PUSH_SERVICE_NOT_CONFIGURED; NOT_FOUND when the relay publishes no list; and, when none was ever had,
 * FAILED_TO_CONNECT_BOUNCER, INTERNAL_SERVER_ERROR_ON_BOUNCER or ADMIN_ACTION_REQUIRED.
 */
export function passOnKeyList(cache: KeyListCache | undefined): Operation {
  return {
    method: 'GET',
    path: bouncerKeysPath,
    async handle(request) {
      if (cache === undefined) throw new ProtocolError('PUSH_SERVICE_NOT_CONFIGURED');
      const outcome = await cache.get();
      if (outcome.kind === 'retry') throw retryRefusal(outcome);
      if (outcome.kind === 'refused-for-good') {
        throw new ProtocolError('NOT_FOUND', {
          message: 'The push notification service publishes no key list',
        });
      }
      const { key_list, signature, signing_public_key } = outcome.answer;
      const hash = createHash('sha256').update([key_list, signature, signing_public_key].join('\n'));
      return cacheableAnswer(request, {
        version: hash.digest('base64url'),
        maximumAgeSeconds: keyListMaximumAgeSeconds,
        fields: { key_list, signature, signing_public_key },
      });
    },
  };
}

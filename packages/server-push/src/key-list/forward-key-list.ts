import { createHash } from 'node:crypto';
import { bouncerKeysPath, keyListFields, ProtocolError } from '@waxwing/protocol';
import { anyone, cacheableAnswer, noParameters, operation } from '@waxwing/service/http';
import type { ServerPushContext } from '../context.js';
import { retryRefusal } from '../relay-link/retry-refusal.js';
import { keyListMaximumAgeSeconds } from './key-list-cache.js';

/**
 * `GET /api/v1/mobile_push/bouncer_keys`: returns the relay's signed key list unchanged, for phones that can reach only
 * their server. Needs no authentication. Cacheable, with an ETag. Phones verify the signature, so they need not trust
 * the server.
 *
 * Refuses with PUSH_SERVICE_NOT_CONFIGURED if there is no relay, and with NOT_FOUND if the relay publishes no list. If
 * no list is cached and the relay fails, refuses with FAILED_TO_CONNECT_BOUNCER, INTERNAL_SERVER_ERROR_ON_BOUNCER or
 * ADMIN_ACTION_REQUIRED.
 */
export const forwardKeyList = operation({
  method: 'GET',
  path: bouncerKeysPath,
  summary: "Returns the relay's signed key list, for phones that reach only their server.",
  actor: anyone,
  parameters: noParameters,
  answer: keyListFields,
  isCacheable: true,
  codes: [
    'PUSH_SERVICE_NOT_CONFIGURED',
    'NOT_FOUND',
    'FAILED_TO_CONNECT_BOUNCER',
    'INTERNAL_SERVER_ERROR_ON_BOUNCER',
    'ADMIN_ACTION_REQUIRED',
  ],
  async handle({ relay }: Pick<ServerPushContext, 'relay'>, { head }) {
    const keyList = relay.connection?.keyList;
    if (keyList === undefined) throw new ProtocolError('PUSH_SERVICE_NOT_CONFIGURED');
    const outcome = await keyList.get();
    if (outcome.kind === 'retry') throw retryRefusal(outcome);
    if (outcome.kind === 'refused-for-good') {
      throw new ProtocolError('NOT_FOUND', {
        message: 'The push notification service publishes no key list',
      });
    }
    const { key_list, signature, signing_public_key } = outcome.answer;
    const hash = createHash('sha256').update([key_list, signature, signing_public_key].join('\n'));
    return cacheableAnswer(head, {
      version: hash.digest('base64url'),
      maximumAgeSeconds: keyListMaximumAgeSeconds,
      fields: { key_list, signature, signing_public_key },
    });
  },
});

import { refused } from '@waxwing/protocol';
import { noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { human } from '../platform/authentication/authenticate.js';

// Apps without encryption register the phone's token in plain text. This server refuses these registrations: it sends
// only encrypted notifications, and must not know tokens. No code here reads the token, so it is neither stored nor
// logged.

const token = z.string();

const tooOld =
  'This server sends only encrypted notifications, which this app does not support: update the app. The token was not stored.';

/**
 * `POST /api/v1/users/me/android_gcm_reg_id`: always fails with BAD_REQUEST and a message that says to update the
 * app.
 */
export const addLegacyFcmToken = operation({
  method: 'POST',
  path: '/api/v1/users/me/android_gcm_reg_id',
  summary: 'Always fails: the server refuses unencrypted Android tokens.',
  actor: human,
  parameters: z.object({ token }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle() {
    throw refused(tooOld);
  },
});

/**
 * `POST /api/v1/users/me/apns_device_token`: always fails with BAD_REQUEST and a message that says to update the app.
 */
export const addLegacyApnsToken = operation({
  method: 'POST',
  path: '/api/v1/users/me/apns_device_token',
  summary: 'Always fails: the server refuses unencrypted Apple tokens.',
  actor: human,
  parameters: z.object({ token, appid: z.string() }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle() {
    throw refused(tooOld);
  },
});

/** `DELETE /api/v1/users/me/android_gcm_reg_id`: always fails with BAD_REQUEST, because no such token is registered. */
export const removeLegacyFcmToken = operation({
  method: 'DELETE',
  path: '/api/v1/users/me/android_gcm_reg_id',
  summary: 'Always fails: the server stores no unencrypted Android tokens.',
  actor: human,
  parameters: z.object({ token }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle() {
    throw refused('Token does not exist');
  },
});

/** `DELETE /api/v1/users/me/apns_device_token`: always fails with BAD_REQUEST, because no such token is registered. */
export const removeLegacyApnsToken = operation({
  method: 'DELETE',
  path: '/api/v1/users/me/apns_device_token',
  summary: 'Always fails: the server stores no unencrypted Apple tokens.',
  actor: human,
  parameters: z.object({ token }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle() {
    throw refused('Token does not exist');
  },
});

import { ProtocolError, refused } from '@waxwing/protocol';
import { noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { server } from '../authenticate-server.js';
import type { ServerDirectory } from '../server-directory.js';
import type { ServerQuotas } from '../server-quotas.js';

interface Context {
  readonly servers: ServerDirectory;
  readonly quotas: Pick<ServerQuotas, 'take'>;
}

// Registrations of tokens that are not sealed (docs/protocol.md#unsealed-tokens). This relay stores none, but a stock server
// asks it to remove them, and its workers stop at an answer that they do not know.
const unsealed = { method: 'POST', actor: server, parameters: z.object({}), answer: noAnswer } as const;
const charge = ({ quotas }: Context, { serverId }: { serverId: string }) => quotas.take(serverId, 1);

/** `POST /api/v1/remotes/push/register`: refuses every token with BAD_REQUEST. */
export const registerUnsealed = operation({
  ...unsealed,
  path: '/api/v1/remotes/push/register',
  summary: 'Refuses a token that is not sealed.',
  codes: ['RATE_LIMIT_HIT', 'BAD_REQUEST'],
  charge,
  async handle(_context: Context) {
    throw refused('This relay takes sealed push registrations only: update the app.');
  },
});

/** `POST /api/v1/remotes/push/unregister`: refuses every token with BAD_REQUEST, because none is stored. */
export const unregisterUnsealed = operation({
  ...unsealed,
  path: '/api/v1/remotes/push/unregister',
  summary: 'Answers that a token is not stored unsealed.',
  codes: ['RATE_LIMIT_HIT', 'BAD_REQUEST'],
  charge,
  async handle(_context: Context) {
    throw refused('Token does not exist');
  },
});

/** `POST /api/v1/remotes/push/unregister/all`: always succeeds, because there is nothing to remove. */
export const unregisterAllUnsealed = operation({
  ...unsealed,
  path: '/api/v1/remotes/push/unregister/all',
  summary: 'Succeeds, because no token is stored unsealed.',
  codes: ['RATE_LIMIT_HIT'],
  charge,
  async handle(_context: Context) {
    return {};
  },
});

// A user's tokens, as texts. More than these fields come, such as the notification itself.
const tokens = z.array(z.string()).default([]);

/**
 * `POST /api/v1/remotes/push/notify`: delivers nothing, and names every token as deleted, as a stock relay names tokens that
 * it does not have. The server then removes them. A refusal would end its job before it sends the sealed notification.
 */
export const notifyUnsealed = operation({
  ...unsealed,
  path: '/api/v1/remotes/push/notify',
  summary: 'Answers that no token is stored unsealed, so that the server forgets those that it has.',
  body: 'json',
  parameters: z.object({ android_devices: tokens, apple_devices: tokens }),
  answer: z.object({
    total_android_devices: z.number().int(),
    total_apple_devices: z.number().int(),
    deleted_devices: z.object({ android_devices: z.array(z.string()), apple_devices: z.array(z.string()) }),
    realm: z.null(),
  }),
  codes: ['RATE_LIMIT_HIT'],
  charge,
  async handle(_context: Context, { parameters: { android_devices, apple_devices } }) {
    const deleted_devices = { android_devices, apple_devices };
    return { total_android_devices: 0, total_apple_devices: 0, deleted_devices, realm: null };
  },
});

/**
 * `POST /api/v1/remotes/push/test_notification`: refuses every token with INVALID_REMOTE_PUSH_DEVICE_TOKEN, because none is
 * stored.
 */
export const testUnsealed = operation({
  ...unsealed,
  path: '/api/v1/remotes/push/test_notification',
  summary: 'Answers that a token is not stored unsealed.',
  body: 'json',
  parameters: z.object({ token: z.string() }),
  codes: ['RATE_LIMIT_HIT', 'INVALID_REMOTE_PUSH_DEVICE_TOKEN'],
  charge,
  async handle(_context: Context) {
    throw new ProtocolError('INVALID_REMOTE_PUSH_DEVICE_TOKEN');
  },
});

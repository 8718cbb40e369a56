import { refused } from '@waxwing/protocol';
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

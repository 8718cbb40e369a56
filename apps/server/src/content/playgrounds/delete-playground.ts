import { refused } from '@waxwing/protocol';
import { integerParameter, noAnswer, operation } from '@waxwing/service/http';
import { lockExclusive } from '@waxwing/storage';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { administrator } from '../../platform/authentication/authenticate.js';
import { removePlayground } from './playground-store.js';
import { playgroundsLock, publishPlaygrounds } from './publish-playgrounds.js';

/**
 * `DELETE /api/v1/realm/playgrounds/{playground_id}`: removes a playground. Notifies all users. Errors:
 * UNAUTHORIZED_PRINCIPAL for actors who are not administrators; BAD_REQUEST for an unknown playground.
 */
export const deletePlayground = operation({
  method: 'DELETE',
  path: '/api/v1/realm/playgrounds/{playground_id}',
  summary: 'Deletes a playground.',
  actor: administrator,
  parameters: z.object({ playground_id: integerParameter }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle({ publish }: ServerContext, { actor, parameters: { playground_id: id } }) {
    await actor.change(async (transaction) => {
      await lockExclusive(transaction.db, playgroundsLock);
      if (!(await removePlayground(transaction.db, id))) throw refused('Invalid playground');
      await publishPlaygrounds(publish, transaction);
    });
    return {};
  },
});

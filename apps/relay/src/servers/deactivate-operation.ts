import { serverDeactivatePath } from '@waxwing/protocol';
import { noAnswer, noParameters, operation } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import type { RelayDatabase } from '../tables.js';
import { server } from './authenticate-server.js';
import type { ServerDirectory } from './server-directory.js';
import type { ServerQuotas } from './server-quotas.js';

interface Context {
  readonly clock: Clock;
  readonly database: RelayDatabase;
  readonly servers: ServerDirectory;
  readonly quotas: Pick<ServerQuotas, 'take'>;
}

/**
 * `POST /api/v1/remotes/server/deactivate` (docs/protocol.md#remotesserverdeactivate): a server leaves the relay. Its
 * realms and devices are kept. The relay refuses all later requests with UNAUTHORIZED, until the server registers again
 * with `reactivate` (see `registerServer`) or the operator resumes it.
 */
export const deactivateServer = operation({
  method: 'POST',
  path: serverDeactivatePath,
  summary: 'Deactivates a server.',
  actor: server,
  // Stock servers send an empty JSON object as the body.
  body: 'json',
  parameters: noParameters,
  answer: noAnswer,
  codes: ['RATE_LIMIT_HIT'],
  charge: ({ quotas }: Context, { serverId }) => quotas.take(serverId, 1),
  async handle({ clock, database, servers }: Context, { actor: { serverId } }) {
    await database.write(({ db }) =>
      db
        .updateTable('servers')
        .set({ deactivated_at: clock() })
        .where('id', '=', serverId)
        .where('deactivated_at', 'is', null)
        .execute(),
    );
    servers.forget(serverId);
    return {};
  },
});

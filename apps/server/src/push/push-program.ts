import type { PushProgram, PushWork } from '@waxwing/server-push/commands';
import type { Terminal } from '@waxwing/service/command-line';
import { roles } from '../platform/authentication/roles.js';
import type { ServerDatabase, ServerTransaction } from '../tables.js';
import { withServerDatabase } from '../with-database.js';
import { adminNames } from './admin-names.js';

/** Returns the adapter that the shared push commands use to access this server. */
export function pushProgram(terminal: Terminal): PushProgram {
  return {
    terminal,
    names: adminNames,
    userIs: { kind: 'address', description: 'the e-mail address of the user' },
    contactIs: 'that of the first owner',
    withPush: (work) => withPush(terminal, work),
    async findUser(database, address) {
      const { requireUser } = await import('../membership/user-administration/manage-users.js');
      return (await requireUser(database as ServerDatabase, address)).id;
    },
    async publisherOf(database) {
      const { createPublisher } = await import('../platform/event-queues/publish-events.js');
      const { queueNotifier } = await import('../platform/event-queues/queue-listeners.js');
      const publish = createPublisher(queueNotifier(database.signals), terminal.clock);
      return (transaction, events) => publish(transaction as ServerTransaction, events);
    },
    findContact: (database) => firstOwner(database as ServerDatabase),
  };
}

async function withPush<Result>(
  terminal: Terminal,
  work: (push: PushWork) => Promise<Result>,
): Promise<Result> {
  // Imported lazily, so that `--help` stays fast.
  const { loadFastestSodium } = await import('@waxwing/sodium/native');
  const { readRealm } = await import('../people/realm/realm-store.js');
  return withServerDatabase(terminal, async (database, configuration) => {
    const realm = await readRealm(database, configuration.realm, terminal.clock());
    const { sodium } = await loadFastestSodium();
    return work({ database, settings: configuration, realm, sodium });
  });
}

async function firstOwner({ db }: ServerDatabase): Promise<string | undefined> {
  const owner = await db
    .selectFrom('users')
    .select('email')
    .where('role', '=', roles.owner)
    .where('is_active', '=', 1)
    .where('is_bot', '=', 0)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return owner?.email;
}

import { openDatabaseWithJobs } from '@waxwing/jobs';
import {
  createServerPush,
  type ServerPushOptions,
  type ServerPushTables,
  serverPushMigrations,
} from '@waxwing/server-push';
import { loadFastestSodium } from '@waxwing/sodium/native';

/** What only the chat server knows: how to authenticate requests and publish events, its organization and its relay. */
interface Own
  extends Pick<ServerPushOptions, 'authenticate' | 'publish' | 'realm' | 'relay' | 'log' | 'metrics'> {
  readonly databaseUrl: string;
}

export async function mountServerPush({ databaseUrl, ...own }: Own) {
  const database = await openDatabaseWithJobs<ServerPushTables>({
    url: databaseUrl,
    migrations: [serverPushMigrations], // and your own
    role: 'serving',
    now: Date.now,
    onJobError: (error, job) => own.log.error({ err: error, job: job.kind }, 'a job failed'),
  });
  const { sodium } = await loadFastestSodium();
  const push = createServerPush({ ...own, database, sodium, clock: Date.now, random: Math.random });
  await database.jobs.start();
  // Serve push.operations beside your own; call push.notify within the transaction that stores a message.
  return { database, push };
}

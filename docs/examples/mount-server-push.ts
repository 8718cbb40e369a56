import { createServerPush, type MountOptions, openPushDatabase } from '@waxwing/server-push';

/** Host-specific options: how to authenticate requests and publish events, the organization and its relay. */
interface Own extends Pick<MountOptions, 'authenticate' | 'publish' | 'realm' | 'relay'> {
  /** `sqlite:<file>` or `postgres://…`. */
  readonly databaseUrl: string;
}

export async function mountServerPush({ databaseUrl, ...own }: Own) {
  const database = await openPushDatabase({ url: databaseUrl });
  const push = await createServerPush({ ...own, database });
  await database.jobs.start();
  // Serve push.toNodeListener() or push.handle; call push.notify within the transaction of the change.
  return { database, push };
}

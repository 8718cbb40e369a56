import { openDatabaseWithJobs } from '@waxwing/jobs';

/** Makes all pending retries due immediately, as operators can. Does not restore lost jobs. */
export async function hastenJobs(databaseUrls: readonly string[]): Promise<void> {
  for (const url of databaseUrls) {
    const { jobs, close } = await openDatabaseWithJobs({
      url,
      migrations: [],
      role: 'visiting',
      now: Date.now,
      onJobError: (error) => {
        throw error;
      },
    });
    try {
      for (const { id } of await jobs.list({ state: 'waiting', limit: 10_000 })) await jobs.retry(id);
    } finally {
      await close();
    }
  }
}

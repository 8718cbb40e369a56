import { openDatabaseWithJobs } from '@waxwing/jobs';

/** Makes all jobs that wait for another try due now, as operators can; a job that was lost stays lost. */
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

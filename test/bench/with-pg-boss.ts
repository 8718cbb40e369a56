import { PgBoss } from 'pg-boss';

/**
 * Calls `measure` with a started pg-boss that has one queue. NOTIFY wakes the worker for each job; otherwise the worker
 * would poll every two seconds.
 */
export async function withPgBoss<Figure>(
  url: string,
  queue: string,
  measure: (boss: PgBoss) => Promise<Figure>,
): Promise<Figure> {
  const boss = new PgBoss({
    connectionString: url,
    supervise: false,
    schedule: false,
    useListenNotify: true,
  });
  let isOver = false;
  boss.on('error', (error) => {
    // Expected after the measurement: a connection that is still closing may report that its database was dropped.
    if (!isOver) throw error;
  });
  await boss.start();
  await boss.createQueue(queue, { notify: true });
  const figure = await measure(boss);
  isOver = true;
  await boss.stop({ graceful: false });
  return figure;
}

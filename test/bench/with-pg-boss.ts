import { PgBoss } from 'pg-boss';

/** A started pg-boss with one queue, whose worker hears of each job by NOTIFY: it polls every two seconds otherwise. */
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
    // A connection that is being closed may get the error that its database is dropped.
    if (!isOver) throw error;
  });
  await boss.start();
  await boss.createQueue(queue, { notify: true });
  const figure = await measure(boss);
  isOver = true;
  await boss.stop({ graceful: false });
  return figure;
}

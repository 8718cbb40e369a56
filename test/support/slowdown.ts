import { existsSync, readFileSync } from 'node:fs';

/**
 * Begins to measure how many times as long as on a machine of its own a process takes, because it waits for a core that
 * others use; gives what ends the measurement. 1 where the system does not tell.
 */
export function measureSlowdown(pid: number | undefined): () => number {
  const start = scheduled(pid);
  return () => {
    const end = scheduled(pid);
    const [ran, waited] = [end.ran - start.ran, end.waited - start.waited];
    return ran > 0 ? (ran + waited) / ran : 1;
  };
}

/** Nanoseconds of the main thread. */
function scheduled(pid: number | undefined): { readonly ran: number; readonly waited: number } {
  const file = `/proc/${pid}/task/${pid}/schedstat`;
  if (!existsSync(file)) return { ran: 0, waited: 0 };
  const [ran = 0, waited = 0] = readFileSync(file, 'utf8').split(' ').map(Number);
  return { ran, waited };
}

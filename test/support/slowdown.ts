import { existsSync, readFileSync } from 'node:fs';

/**
 * Starts measuring how much a process is slowed down by waiting for a CPU core. The returned function ends the
 * measurement and returns the slowdown factor. The factor is 1 if the system does not report waiting times.
 */
export function measureSlowdown(pid: number | undefined): () => number {
  const start = scheduled(pid);
  return () => {
    const end = scheduled(pid);
    const [ran, waited] = [end.ran - start.ran, end.waited - start.waited];
    return ran > 0 ? (ran + waited) / ran : 1;
  };
}

/** CPU time and waiting time of the main thread, in nanoseconds. */
function scheduled(pid: number | undefined): { readonly ran: number; readonly waited: number } {
  const file = `/proc/${pid}/task/${pid}/schedstat`;
  if (!existsSync(file)) return { ran: 0, waited: 0 };
  const [ran = 0, waited = 0] = readFileSync(file, 'utf8').split(' ').map(Number);
  return { ran, waited };
}

import type { ChildProcess } from 'node:child_process';

/** Whether a process has ended, normally or by a signal. */
export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Resolves when `url` responds with 200. @throws Error with the process's output if the process ends first. */
export async function untilReady(
  url: string,
  child: ChildProcess,
  printed = (): string => '',
): Promise<void> {
  for (;;) {
    if (hasEnded(child)) throw new Error(`the process ended before it was ready:\n${printed()}`);
    try {
      const response = await fetch(url);
      await response.arrayBuffer();
      if (response.status === 200) return;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

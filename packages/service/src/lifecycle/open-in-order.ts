import type { RunningService } from './run-process.js';

/** What closes each thing that was opened, in the order of opening. */
export type Closers = (() => Promise<void>)[];

/**
 * Opens things that need each other, one after the other; `open` adds what closes each. Closing goes the opposite way,
 * also when one of them cannot be opened; then what `open` threw is thrown.
 */
export async function openInOrder<Opened extends object>(
  open: (closers: Closers) => Promise<Opened>,
): Promise<Opened & RunningService> {
  const closers: Closers = [];
  const close = async (): Promise<void> => {
    for (const closeOne of closers.splice(0).reverse()) await closeOne();
  };
  try {
    return { ...(await open(closers)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

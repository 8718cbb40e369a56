import type { RunningService } from './run-process.js';

/** Functions that close resources, in the order in which the resources were opened. */
export type Closers = (() => Promise<void>)[];

/**
 * Opens resources that depend on each other. `open` pushes a close function for each resource. The resources are closed
 * in reverse order, even if `open` fails partway through.
 * @throws the error from `open`
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

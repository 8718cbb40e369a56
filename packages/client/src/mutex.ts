/** The last unsettled task for each name. */
const lastTasks = new Map<string, Promise<unknown>>();

/**
 * Runs tasks with the same name one after another, in FIFO order. Covers all clients in this JavaScript context and, in
 * browsers with Web Locks, all tabs and workers. The lock is tied to a name rather than to a store object, because an
 * app may create a new storage wrapper for each client. A failed task does not prevent the next task from running.
 */
export function exclusively<T>(name: string, task: () => Promise<T>): Promise<T> {
  const run = () => acrossTabs(name, task);
  const result = (lastTasks.get(name) ?? Promise.resolve()).then(run, run);
  lastTasks.set(name, result);
  const evict = () => {
    if (lastTasks.get(name) === result) lastTasks.delete(name);
  };
  result.then(evict, evict);
  return result;
}

/** The part of the Web Locks API that is used to serialize tasks across the tabs and workers of one origin. */
interface WebLocks {
  request<T>(name: string, task: () => Promise<T>): Promise<T>;
}

async function acrossTabs<T>(name: string, task: () => Promise<T>): Promise<T> {
  const { navigator } = globalThis as { navigator?: { locks?: WebLocks } };
  return navigator?.locks === undefined ? task() : navigator.locks.request(name, task);
}

/**
 * Creates a function that starts a background task. Single-flight: calls during a run do nothing. Errors from the task
 * are ignored.
 */
export function createSharedRun(task: () => Promise<void>): () => void {
  let isRunning = false;
  const end = () => {
    isRunning = false;
  };
  return () => {
    if (isRunning) return;
    isRunning = true;
    task().then(end, end);
  };
}

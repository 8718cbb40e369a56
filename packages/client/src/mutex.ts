/** The last task of each name that has not settled yet. */
const lastTasks = new Map<string, Promise<unknown>>();

/**
 * Serializes tasks by name, FIFO: among all clients in this JavaScript context, and among the tabs and workers of a browser
 * that has Web Locks. The lock belongs to the name and not to a store, because an app may wrap its storage again for each
 * client. A failed task does not prevent the next task from running.
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

/** The part of the Web Locks API that serializes tasks between the tabs and workers of one origin. */
interface WebLocks {
  request<T>(name: string, task: () => Promise<T>): Promise<T>;
}

async function acrossTabs<T>(name: string, task: () => Promise<T>): Promise<T> {
  const { navigator } = globalThis as { navigator?: { locks?: WebLocks } };
  return navigator?.locks === undefined ? task() : navigator.locks.request(name, task);
}

/**
 * Creates a function that runs a background task, single-flight: calls during a run do nothing. Ignores errors of the task.
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

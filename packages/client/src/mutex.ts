/** Runs tasks one at a time, FIFO; a failed task does not stop the next. */
export type RunExclusive = <T>(task: () => Promise<T>) => Promise<T>;

export function createMutex(): RunExclusive {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const run = last.then(task, task);
    last = run;
    return run;
  };
}

/** Serializes tasks per name; tasks with different names run concurrently. */
export function createKeyedMutex(): <T>(name: string, task: () => Promise<T>) => Promise<T> {
  const mutexes = new Map<string, RunExclusive>();
  return (name, task) => {
    const mutex = mutexes.get(name) ?? createMutex();
    mutexes.set(name, mutex);
    return mutex(task);
  };
}

/** Returns the mutex of an object. All callers in this process get the same one. */
export function mutexOf(object: object): RunExclusive {
  const mutex = mutexes.get(object) ?? createMutex();
  mutexes.set(object, mutex);
  return mutex;
}

const mutexes = new WeakMap<object, RunExclusive>();

/** Single-flight background task: calls during a run do nothing. Errors are swallowed. */
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

/** The part of the Web Locks API that serializes tasks between the tabs and workers of one origin. */
interface WebLocks {
  request<T>(name: string, task: () => Promise<T>): Promise<T>;
}

/** Serializes a task by name among the tabs and workers of a browser that has Web Locks; elsewhere just runs it. */
export async function acrossTabs<T>(name: string, task: () => Promise<T>): Promise<T> {
  const { navigator } = globalThis as { navigator?: { locks?: WebLocks } };
  return navigator?.locks === undefined ? task() : navigator.locks.request(name, task);
}

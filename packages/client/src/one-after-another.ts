/** Runs tasks one after the other, whatever came of those before. */
export type Turn = <T>(task: () => Promise<T>) => Promise<T>;

export function createTurn(): Turn {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const run = last.then(task, task);
    last = run;
    return run;
  };
}

/** Turns by name: tasks of different names run side by side. */
export function createTurns(): <T>(name: string, task: () => Promise<T>) => Promise<T> {
  const turns = new Map<string, Turn>();
  return (name, task) => {
    const turn = turns.get(name) ?? createTurn();
    turns.set(name, turn);
    return turn(task);
  };
}

/** Runs a task beside all else; whoever asks for it while it runs shares that run. What it throws is thrown to nobody. */
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

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

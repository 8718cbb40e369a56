const silentMilliseconds = 2000;

/** Tells a user at a terminal that a slow command is still running. */
export interface Progress {
  /**
   * Starts the timer. `what` is the command as typed, such as `waxwing-relay keys move`; `doing` defaults to "running".
   */
  begin(what: string, doing?: string): void;
  /** Resolves to the user's answer to a question. Pauses the timer until then. */
  asking<Answer>(answer: Promise<Answer>): Promise<Answer>;
  end(): void;
}

/**
 * Prints one line if the command runs for longer than two seconds, and again two seconds after each answered question.
 * The timer does not keep the process alive.
 */
export function createProgress(say: (text: string) => void): Progress {
  let line: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  function wait(next: string | undefined) {
    line = next;
    clearTimeout(timer);
    if (next !== undefined) timer = setTimeout(() => say(next), silentMilliseconds).unref();
  }
  return {
    begin: (what, doing = 'running') => wait(`${what} is still ${doing} …`),
    async asking(answer) {
      clearTimeout(timer);
      try {
        return await answer;
      } finally {
        wait(line);
      }
    },
    end: () => wait(undefined),
  };
}

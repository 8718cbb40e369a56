const silentMilliseconds = 2000;

/** Tells whoever waits at a terminal that what was begun is not done yet. */
export interface Progress {
  /**
   * `what` is `doing` from now on, "at work" where nothing is said: a command as it is typed, such as `waxwing-relay keys
   * move`.
   */
  begin(what: string, doing?: string): void;
  /** What a person answers; while they think, nothing is at work. */
  asking<Answer>(answer: Promise<Answer>): Promise<Answer>;
  end(): void;
}

/**
 * Says one line after two seconds of silence, and one more after each question that was answered; keeps no process alive.
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
    begin: (what, doing = 'at work') => wait(`${what} is still ${doing} …`),
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

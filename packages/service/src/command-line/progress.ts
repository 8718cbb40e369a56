const silentMilliseconds = 2000;

/** Tells whoever waits at a terminal that what was begun is not done yet. */
export interface Progress {
  /** `what` is at work from now on: a command as it is typed, such as `waxwing-relay keys move`. */
  begin(what: string): void;
  /** What a person answers; while they think, nothing is at work. */
  asking<Answer>(answer: Promise<Answer>): Promise<Answer>;
  end(): void;
}

/** Says one line after two seconds of silence, and one more after each question that was answered; keeps no process alive. */
export function createProgress(say: (text: string) => void): Progress {
  let atWork: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  function begin(what: string | undefined) {
    atWork = what;
    clearTimeout(timer);
    if (what === undefined) return;
    timer = setTimeout(() => say(`${what} is still at work …`), silentMilliseconds).unref();
  }
  return {
    begin,
    async asking(answer) {
      clearTimeout(timer);
      try {
        return await answer;
      } finally {
        begin(atWork);
      }
    },
    end: () => begin(undefined),
  };
}

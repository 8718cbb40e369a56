/** Keeps something open, such as a transaction, while a test observes the operations that it blocks. */
export class HeldOpen {
  #release: () => Promise<void> = async () => undefined;

  /**
   * Starts `work` and resolves once it calls `stay`, which blocks until {@link release}. @throws any error that `work`
   * throws before that.
   */
  hold(work: (stay: () => Promise<void>) => Promise<unknown>): Promise<void> {
    return new Promise((held, failed) => {
      const working = work(
        () =>
          new Promise((end) => {
            this.#release = async () => {
              end();
              await working;
            };
            held();
          }),
      );
      working.catch(failed);
    });
  }

  /** Lets the work finish, and waits until it has. */
  async release(): Promise<void> {
    await this.#release();
  }
}

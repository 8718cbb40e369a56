/** Keeps something open, such as a transaction, while a test observes the operations blocked by it. */
export class HeldOpen {
  #release: () => Promise<void> = async () => undefined;

  /**
   * Starts `work`, and resolves once `work` calls `stay`. The call of `stay` blocks until {@link release}. @throws any
   * error that `work` throws before that.
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

  /** Unblocks `work`, and waits until it ends. */
  async release(): Promise<void> {
    await this.#release();
  }
}

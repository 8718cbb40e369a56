/** Keeps something open, such as a transaction, while a test looks at its waiters. */
export class HeldOpen {
  #release: () => Promise<void> = async () => undefined;

  /**
   * Resolves once `work` stays open: it calls `stay`, which resolves on {@link release}. @throws what `work` throws before.
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

  /** Lets it end, and waits until it has. */
  async release(): Promise<void> {
    await this.#release();
  }
}
